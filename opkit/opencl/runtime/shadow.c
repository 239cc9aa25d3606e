/*
 * The memory that a kernel may access. The compiler's AddressSanitizer has each load and store of a
 * kernel look into a shadow: one byte for eight bytes of memory. Here is what its instrumented code
 * calls. All that was not allowed is forbidden, memory of the runtime too: the shadow of it has no
 * access itself, so that a wild address faults before it is used.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime.h"

/* As the instrumentation has them on x86_64. */
#define SHADOW_START 0x7fff8000ul
#define SHADOW_SIZE 0x100000000000ul
enum {
    GRANULE = 8, /* bytes of memory for one of the shadow; 1 to 7: as many of them are allowed */
    FORBIDDEN = 0xff,
    STACK_FIRST = 0xf1, /* guards of private variables: below the first, and the others */
    STACK_LAST = 0xf3,
    STACK_MAGIC = 0x41b58ab3,
    PAGE = 4096,
    SEARCHED = 512, /* words of the stack, for a call in the kernel */
    UNIFORM_ALIGNMENT = 128 /* of _viv_uniform in prelude/work_items.h */
};

/* A variable of a library, as the instrumentation describes it. */
struct variable {
    uintptr_t address;
    size_t size, size_with_guard;
    const char *name, *module;
    uintptr_t has_initializer, location, indicator;
};

/* Memory of the runtime that a kernel gets. */
struct piece {
    const char *name; /* NULL: none that the source has */
    uintptr_t start;
    size_t size;
    size_t guard_before, guard_after; /* bytes around it that nothing else has */
    size_t padding; /* bytes behind it that a kernel touches with an event */
};

unsigned char *__opkit_local_start;
size_t __opkit_local_size;

static const struct variable *variables, *variables_end;
static struct piece pieces[3 * __OPKIT_MAX_ARGUMENTS];
static int piece_count;
static uintptr_t edges[2 * sizeof pieces / sizeof *pieces]; /* shadow pages at ends of pieces */
static int edge_count;

static uintptr_t page_of(uintptr_t address)
{
    return address / PAGE * PAGE;
}

static uintptr_t shadow_address(uintptr_t address)
{
    return SHADOW_START + address / GRANULE;
}

static unsigned char *shadow_of(uintptr_t address)
{
    return (unsigned char *)shadow_address(address);
}

/* The memory that an address of the shadow stands for, or the address itself. */
static uintptr_t guarded_address(uintptr_t address)
{
    return address >= SHADOW_START && address < SHADOW_START + SHADOW_SIZE
               ? (address - SHADOW_START) * GRANULE
               : address;
}

void __opkit_open_shadow(void)
{
    void *wanted = (void *)SHADOW_START;
    void *shadow = mmap(wanted, SHADOW_SIZE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (shadow != wanted) {
        __opkit_die("the addresses that guard a kernel's memory are not free; `ulimit -v` must be "
                    "unlimited");
    }
}

static void make_accessible(uintptr_t start, size_t size)
{
    if (mprotect((void *)start, size, PROT_READ | PROT_WRITE) != 0) {
        __opkit_die("no memory to guard that of a kernel");
    }
}

static void open_edge(uintptr_t page)
{
    for (int i = 0; i < edge_count; i++) {
        if (edges[i] == page) {
            return;
        }
    }
    make_accessible(page, PAGE);
    memset((void *)page, FORBIDDEN, PAGE);
    edges[edge_count++] = page;
}

/* Forbids the memory behind the size, up to a multiple of the granule. */
static void forbid_end(uintptr_t start, size_t size, size_t size_with_guard)
{
    size_t whole = size / GRANULE * GRANULE;
    memset(shadow_of(start + whole), FORBIDDEN, (size_with_guard - whole) / GRANULE);
    if (size % GRANULE != 0) {
        *shadow_of(start + whole) = (unsigned char)(size % GRANULE);
    }
}

static void add_piece(struct piece piece)
{
    if (piece_count == sizeof pieces / sizeof *pieces) {
        __opkit_die("more than %d pieces of memory for a kernel", piece_count);
    }
    pieces[piece_count++] = piece;
}

void __opkit_allow_padded(const char *name, const void *memory, size_t size, size_t padding)
{
    uintptr_t start = (uintptr_t)memory;
    uintptr_t first = shadow_address(start), end = shadow_address(start + size + GRANULE - 1);
    uintptr_t first_page = page_of(first), last_page = page_of(end - 1);

    add_piece((struct piece){name, start, size, PAGE, PAGE, padding});
    open_edge(first_page);
    open_edge(last_page);
    if (last_page > first_page + PAGE) {
        make_accessible(first_page + PAGE, last_page - first_page - PAGE);
    }
    /* Between the two edges memory is new, so it is zero already. */
    if (last_page > first_page) {
        memset((void *)first, 0, first_page + PAGE - first);
        first = last_page;
    }
    memset((void *)first, 0, end - first);
    forbid_end(start, size, (size + GRANULE - 1) / GRANULE * GRANULE);
    if (padding > 0) {
        open_edge(page_of(shadow_address(start + size + padding - 1)));
    }
}

void __opkit_allow(const char *name, const void *memory, size_t size)
{
    __opkit_allow_padded(name, memory, size, 0);
}

void __opkit_allow_library(const void *start, size_t size)
{
    __opkit_allow(NULL, start, size);
    for (const struct variable *each = variables; each < variables_end; each++) {
        forbid_end(each->address, each->size, each->size_with_guard);
    }
    forbid_end((uintptr_t)variables, 0, (uintptr_t)variables_end - (uintptr_t)variables);
}

bool (*__opkit_observer)(const char *access, uintptr_t start, size_t size, const void *caller);

bool __opkit_is_known(uintptr_t start, size_t size)
{
    for (const struct piece *each = pieces; each < pieces + piece_count; each++) {
        if (start >= each->start && start + size <= each->start + each->size) {
            return true;
        }
    }
    return false;
}

void __opkit_allow_again(const void *start, size_t size)
{
    memset(shadow_of((uintptr_t)start), 0, size / GRANULE);
}

void __opkit_guard_uniform(const char *name, const void *memory, size_t size)
{
    size_t whole = (size + UNIFORM_ALIGNMENT - 1) / UNIFORM_ALIGNMENT * UNIFORM_ALIGNMENT;
    add_piece((struct piece){name, (uintptr_t)memory, size, 0, whole - size, 0});
    forbid_end((uintptr_t)memory, size, whole);
}

/* ---- The names of memory ---- */

static const char *describe(const char *kind, const char *name, int length, size_t size,
                            bool before)
{
    static char text[__OPKIT_MAX_NAME + 64];
    snprintf(text, sizeof text, "%s the %s '%.*s', which has %zu bytes",
             before ? "before" : "past the end of", kind, length, name, size);
    return text;
}

const char *__opkit_describe_argument(uintptr_t address)
{
    for (const struct piece *each = pieces; each < pieces + piece_count; each++) {
        if (each->name != NULL && address >= each->start - each->guard_before &&
            address < each->start + each->size + each->guard_after) {
            return describe(each->guard_before == 0 ? "uniform" : "argument", each->name,
                            __OPKIT_MAX_NAME, each->size, address < each->start);
        }
    }
    return NULL;
}

bool __opkit_is_local(const void *memory)
{
    const unsigned char *byte = memory;
    return byte >= __opkit_local_start && byte < __opkit_local_start + __opkit_local_size;
}

static const struct variable *variable_at(uintptr_t address)
{
    for (const struct variable *each = variables; each < variables_end; each++) {
        if (address >= each->address && address < each->address + each->size_with_guard) {
            return each;
        }
    }
    return NULL;
}

/* A variable of a function has the name `function.name`, and a number if there are two of it. */
static const char *name_of_variable(const struct variable *variable)
{
    const char *dot = strchr(variable->name, '.');
    return dot != NULL ? dot + 1 : variable->name;
}

const char *__opkit_local_name(uintptr_t address, size_t *offset)
{
    const struct variable *variable = variable_at(address);

    *offset = variable == NULL ? 0 : address - variable->address;
    return variable == NULL ? NULL : name_of_variable(variable);
}

static const char *describe_variable(uintptr_t address)
{
    const struct variable *variable = variable_at(address);
    const char *name;

    if (variable == NULL) {
        return NULL;
    }
    name = name_of_variable(variable);
    return describe(__opkit_is_local((const void *)variable->address) ? "__local variable"
                                                                      : "constant",
                    name, (int)strcspn(name, "."), variable->size, false);
}

/*
 * Private variables lie in a frame, which begins with a magic number and a text: how many there
 * are; of each the offset, the size, the length of the name, the name and its line.
 */
static const char *describe_private(uintptr_t address)
{
    const unsigned char *shadow = shadow_of(address);
    const char *result = NULL, *rest;
    const uintptr_t *frame;
    int count, length, read;
    size_t offset, size, nearest = SIZE_MAX;

    while (*shadow < GRANULE || (*shadow > STACK_FIRST && *shadow <= STACK_LAST)) {
        shadow--;
    }
    while (*shadow == STACK_FIRST && shadow[-1] == STACK_FIRST) {
        shadow--;
    }
    frame = (const void *)guarded_address((uintptr_t)shadow);
    if (*shadow != STACK_FIRST || frame[0] != STACK_MAGIC ||
        !__opkit_in_library((const void *)frame[1]) ||
        sscanf((const char *)frame[1], "%d%n", &count, &read) != 1) {
        return NULL;
    }
    rest = (const char *)frame[1] + read;
    while (count-- > 0 && sscanf(rest, "%zu %zu %d %n", &offset, &size, &length, &read) == 3) {
        uintptr_t start = (uintptr_t)frame + offset;
        size_t distance = address < start ? start - address : address - (start + size - 1);
        const char *name = rest + read;
        rest = name + length;
        if (distance < nearest) {
            nearest = distance;
            result =
                describe("private variable", name, (int)strcspn(name, ": "), size, address < start);
        }
    }
    return result;
}

/* ---- Accesses ---- */

static struct {
    uintptr_t address;
    const void *caller; /* NULL: no access has ended the kernel */
} forbidden;

void __opkit_locate_fault(struct harness_fault *fault)
{
    if (forbidden.caller != NULL) {
        fault->address = forbidden.address;
        fault->stack_pointer = 0;
        fault->instruction = (uintptr_t)forbidden.caller - 1;
        return;
    }
    fault->address = guarded_address(fault->address);
    for (uintptr_t i = 0; i < SEARCHED && !__opkit_in_library((const void *)fault->instruction);
         i++) {
        fault->instruction = ((const uintptr_t *)fault->stack_pointer)[i] - 1;
    }
}

/*
 * Whether an access ends in the padding of an argument, which it may touch; an event if so. What
 * goes on behind the padding meets a guard page.
 */
static bool is_in_padding(const char *access, uintptr_t start, size_t size, const void *caller)
{
    for (const struct piece *each = pieces; each < pieces + piece_count; each++) {
        uintptr_t end = each->start + each->size;

        if (start >= each->start && start + size > end && start < end + each->padding) {
            __opkit_event(strcmp(access, "read") == 0 ? "read of padding bytes"
                                                      : "write of padding bytes",
                          each->name, (int)(end - each->start), 0, 0, 1, caller);
            return true;
        }
    }
    return false;
}

/* After a guard between variables was touched, a kernel goes on: nothing else lies there. */
static void report(const char *access, uintptr_t address, size_t size, const void *caller)
{
    const char *what = describe_variable(address);

    if (what == NULL) {
        what = describe_private(address);
    }
    if (what == NULL) {
        forbidden.address = address;
        forbidden.caller = caller;
        raise(SIGSEGV);
    }
    __opkit_report_overrun(access, size, what, caller);
}

static void report_access(const char *access, uintptr_t start, size_t size, const void *caller)
{
    if (!is_in_padding(access, start, size, caller)) {
        report(access, start, size, caller);
    }
}

static bool is_allowed(uintptr_t address)
{
    unsigned char shadow = *shadow_of(address);
    return shadow == 0 || (shadow < GRANULE && address % GRANULE < shadow);
}

void __opkit_check_access(const char *access, const void *memory, size_t size, const void *caller)
{
    uintptr_t end = (uintptr_t)memory + size;

    if (__opkit_observer != NULL && __opkit_observer(access, (uintptr_t)memory, size, caller)) {
        return;
    }
    for (uintptr_t start = (uintptr_t)memory; start < end;
         start = start / GRANULE * GRANULE + GRANULE) {
        uintptr_t last = start | (GRANULE - 1);
        uintptr_t address = last < end ? last : end - 1;
        if (!is_allowed(address)) {
            if (!is_in_padding(access, start, address - start + 1, caller)) {
                report(access, address, size, caller);
            }
            return;
        }
    }
}

/* ---- Calls of the instrumented code ---- */

#define CALLED(result, name, ...)      \
    result __asan_##name(__VA_ARGS__); \
    result __asan_##name(__VA_ARGS__)
#define CALLED_FOR(bytes)                                                    \
    CALLED(void, report_load##bytes##_noabort, uintptr_t address)            \
    {                                                                        \
        report_access("read", address, bytes, __builtin_return_address(0));  \
    }                                                                        \
    CALLED(void, report_store##bytes##_noabort, uintptr_t address)           \
    {                                                                        \
        report_access("write", address, bytes, __builtin_return_address(0)); \
    }
CALLED_FOR(1)
CALLED_FOR(2)
CALLED_FOR(4)
CALLED_FOR(8)
CALLED_FOR(16)

#define CALLED_WITH_SIZE(name, kind)                                                          \
    CALLED(void, name##_noabort, uintptr_t address, size_t size)                              \
    {                                                                                         \
        __opkit_check_access(kind, (const void *)address, size, __builtin_return_address(0)); \
    }
CALLED_WITH_SIZE(report_load_n, "read")
CALLED_WITH_SIZE(report_store_n, "write")

/* Of kernels with a call for each access. */
#define CALLED_EACH_OF(bytes)                                                                     \
    CALLED(void, load##bytes##_noabort, uintptr_t address)                                        \
    {                                                                                             \
        __opkit_check_access("read", (const void *)address, bytes, __builtin_return_address(0));  \
    }                                                                                             \
    CALLED(void, store##bytes##_noabort, uintptr_t address)                                       \
    {                                                                                             \
        __opkit_check_access("write", (const void *)address, bytes, __builtin_return_address(0)); \
    }
CALLED_EACH_OF(1)
CALLED_EACH_OF(2)
CALLED_EACH_OF(4)
CALLED_EACH_OF(8)
CALLED_EACH_OF(16)
CALLED_WITH_SIZE(loadN, "read")
CALLED_WITH_SIZE(storeN, "write")

CALLED(void *, memcpy, void *to, const void *from, size_t size)
{
    __opkit_check_access("read", from, size, __builtin_return_address(0));
    __opkit_check_access("write", to, size, __builtin_return_address(0));
    return memmove(to, from, size);
}

CALLED(void *, memmove, void *to, const void *from, size_t size)
{
    __opkit_check_access("read", from, size, __builtin_return_address(0));
    __opkit_check_access("write", to, size, __builtin_return_address(0));
    return memmove(to, from, size);
}

CALLED(void *, memset, void *to, int value, size_t size)
{
    __opkit_check_access("write", to, size, __builtin_return_address(0));
    return memset(to, value, size);
}

CALLED(void, register_elf_globals, uintptr_t *flag, const struct variable *start,
       const struct variable *end)
{
    (void)flag;
    variables = start;
    variables_end = end;
}

CALLED(void, unregister_elf_globals, uintptr_t *flag, const void *start, const void *end)
{
    (void)flag;
    (void)start;
    (void)end;
}

CALLED(void, init, void)
{
}

CALLED(void, version_mismatch_check_v8, void)
{
}

CALLED(void, handle_no_return, void)
{
}
