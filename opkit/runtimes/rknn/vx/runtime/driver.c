/*
 * Runs a VX kernel over the work items of a launch, for the harness.
 *
 * The entry is that of a kernel in a library, which is compiled by prelude/prelude.h. Attachments
 * that come in: launch, a line of numbers; border, another one: the value of a read outside of
 * a tensor, by its kind, a pattern of bits, a constant; uniform:NAME, the value of a _viv_uniform;
 * padding: the number of bytes that a buffer has behind its elements.
 * One goes out for an output with elements that were never written, unwritten:NAME: their number,
 * and the index of the first. log.c has the lines of events.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vx.h"

/* The initial content of local memory: as half and as float, a NaN. */
enum {
    LOCAL_FILL = 0xff
};

/* A vx_array of any items. */
struct array {
    size_t size;
    void *item;
};

/* An output in the kernel's memory. */
struct output {
    const struct harness_value *value;
    const struct __opkit_image *image;
};

static struct {
    const struct harness_invocation *invocation;
    harness_record_f *record;
    void *library;
    void (*kernel)(void **arguments);
    void *arguments[__OPKIT_MAX_ARGUMENTS];
    struct __opkit_launch launch;
    size_t padding;
    struct output outputs[__OPKIT_MAX_ARGUMENTS];
    unsigned output_count;
} run;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        __opkit_die("no memory for %zu times %zu bytes", count, size);
    }
    return memory;
}

/*
 * Memory below 2 GiB between guard pages, since kernels hold addresses in an int. The last byte
 * touches the upper guard.
 */
static void *device_memory(const char *name, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (size + run.padding + page - 1) / page * page;
    unsigned char *start =
        mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

    if (start == MAP_FAILED || mprotect(start + page, whole, PROT_READ | PROT_WRITE) != 0) {
        __opkit_die("no memory for a tensor of %zu bytes below 2 GiB", size);
    }
    start += page + (whole - size - run.padding) / 16 * 16;
    memset(start + size, (int)(__opkit_fill & 0xff), run.padding);
    __opkit_allow_padded(name, start, size, run.padding);
    return start;
}

/* ---- The library ---- */

static size_t library_size(const void *base)
{
    const ElfW(Ehdr) *header = base;
    const ElfW(Phdr) *segment = (const void *)((const char *)base + header->e_phoff);
    size_t end = 0;

    for (int i = 0; i < header->e_phnum; i++) {
        size_t segment_end = segment[i].p_vaddr + segment[i].p_memsz;
        end = segment[i].p_type == PT_LOAD && segment_end > end ? segment_end : end;
    }
    return end;
}

static void open_library(void *entry)
{
    Dl_info information;
    unsigned char **local;

    dladdr(entry, &information);
    const size_t size = library_size(information.dli_fbase);
    __opkit_open_log(run.record, information.dli_fbase, size);
    __opkit_open_shadow();
    run.library = dlopen(information.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    local = dlsym(run.library, "__opkit_local_memory");
    __opkit_local_start = local[0];
    __opkit_local_size = (size_t)(local[1] - local[0]);
    __opkit_allow_library(information.dli_fbase, size);
    memcpy(&run.kernel, &entry, sizeof run.kernel);
}

/* ---- Attachments ---- */

static void read_launch(const char *line)
{
    struct __opkit_launch *launch = &run.launch;
    unsigned long *const sizes[] = {launch->global_size, launch->global_scale,
                                    launch->global_offset, launch->local_size};
    char *rest;

    launch->dimensions = (unsigned)strtoul(line, &rest, 10);
    launch->reverse = strtoul(rest, &rest, 10) != 0;
    launch->has_barrier = strtoul(rest, &rest, 10) != 0;
    launch->local_fill = LOCAL_FILL;
    for (size_t i = 0; i < 12; i++) {
        sizes[i / 3][i % 3] = strtoul(rest, &rest, 10);
    }
}

static void read_border(const char *line)
{
    char *rest;

    __opkit_border = (enum __opkit_border)strtoul(line, &rest, 10);
    __opkit_fill = (uint32_t)strtoul(rest, &rest, 10);
    __opkit_constant = strtod(rest, NULL);
}

static void set_uniform(const char *name, const struct harness_attachment *value)
{
    ElfW(Sym) *symbol = NULL;
    Dl_info information;
    void *variable = dlsym(run.library, name);

    if (variable == NULL) {
        __opkit_die("the kernel has no _viv_uniform '%s'", name);
    }
    dladdr1(variable, &information, (void **)&symbol, RTLD_DL_SYMENT);
    if (symbol == NULL || symbol->st_size != value->size) {
        __opkit_die("the _viv_uniform '%s' has %zu bytes, but its value %zu", name,
                    symbol == NULL ? 0 : (size_t)symbol->st_size, value->size);
    }
    memcpy(variable, value->bytes, value->size);
    __opkit_guard_uniform(name, variable, value->size);
}

static void read_attachment(const struct harness_attachment *attachment)
{
    static const char UNIFORM[] = "uniform:";

    if (strcmp(attachment->name, "launch") == 0) {
        read_launch(attachment->bytes);
    } else if (strcmp(attachment->name, "border") == 0) {
        read_border(attachment->bytes);
    } else if (strcmp(attachment->name, "padding") == 0) {
        run.padding = strtoul(attachment->bytes, NULL, 10);
    } else if (strncmp(attachment->name, UNIFORM, strlen(UNIFORM)) == 0) {
        set_uniform(attachment->name + strlen(UNIFORM), attachment);
    }
}

/* ---- Arguments ---- */

/* A tensor as an image array: x is the last dimension, y the one before it, z all others. */
static void *new_tensor(const struct harness_value *value)
{
    static const int TYPES[] = {
        [HARNESS_FLOAT16] = __OPKIT_FLOAT16, [HARNESS_FLOAT32] = __OPKIT_FLOAT32,
        [HARNESS_FLOAT64] = __OPKIT_FLOAT64, [HARNESS_INT8] = __OPKIT_INT8,
        [HARNESS_INT16] = __OPKIT_INT16,     [HARNESS_INT32] = __OPKIT_INT32,
        [HARNESS_INT64] = __OPKIT_INT64,     [HARNESS_UINT8] = __OPKIT_UINT8,
        [HARNESS_UINT16] = __OPKIT_UINT16,   [HARNESS_UINT32] = __OPKIT_UINT32,
        [HARNESS_UINT64] = __OPKIT_UINT64,
    };
    struct __opkit_image *image = allocate(1, sizeof *image);
    const size_t *shape = value->shape + value->rank;

    image->type = TYPES[value->type];
    image->element_size = __opkit_size_of(image->type);
    image->width = (int)shape[-1];
    image->height = value->rank > 1 ? (int)shape[-2] : 1;
    image->row_stride = image->width * image->element_size;
    image->slice_stride = image->row_stride * image->height;
    image->depth = (int)(value->size / (size_t)image->slice_stride);
    image->data = memcpy(device_memory(value->name, value->size), value->bytes, value->size);
    image->address = (int)(uintptr_t)image->data;
    image->name = value->name;
    __opkit_allow(NULL, image, sizeof *image);
    return image;
}

static void *new_output(const struct harness_value *value)
{
    struct __opkit_image *image = new_tensor(value);
    const size_t count = value->size / (size_t)image->element_size;

    image->written = allocate(count, 1);
    __opkit_allow(NULL, image->written, count);
    run.outputs[run.output_count++] = (struct output){value, image};
    return image;
}

static void *new_param(const struct harness_value *value)
{
    /* A kernel reads 32 bits, for a number of any size. */
    const size_t size = value->rank == 0 ? sizeof(uint64_t) : value->size;
    void *bytes = memcpy(device_memory(value->name, size), value->bytes, value->size);

    if (value->rank == 0) {
        return bytes;
    }
    struct array *array = allocate(1, sizeof *array);
    *array = (struct array){value->shape[0], bytes};
    __opkit_allow(NULL, array, sizeof *array);
    return array;
}

/* ---- Calls of the harness ---- */

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node)
{
    static void *(*const NEW[])(const struct harness_value *value) = {
        [HARNESS_INPUT] = new_tensor,
        [HARNESS_OUTPUT] = new_output,
        [HARNESS_PARAM] = new_param,
    };

    (void)error;
    *node = &run;
    run.invocation = invocation;
    run.record = record;
    open_library(entry);
    if (invocation->count > __OPKIT_MAX_ARGUMENTS) {
        __opkit_die("more than %d arguments", __OPKIT_MAX_ARGUMENTS);
    }
    for (unsigned i = 0; i < invocation->attachment_count; i++) {
        read_attachment(&invocation->attachments[i]);
    }
    for (unsigned i = 0; i < invocation->count; i++) {
        const struct harness_value *value = &invocation->values[i];
        run.arguments[i] = NEW[value->role](value);
    }
    __opkit_allow(NULL, &__opkit_item, sizeof __opkit_item);
    __opkit_allow(NULL, run.arguments, sizeof run.arguments);
    return 0;
}

static int set_up(void *node)
{
    (void)node;
    return 0;
}

static int process(void *node)
{
    (void)node;
    __opkit_run(&run.launch, run.kernel, run.arguments);
    return 0;
}

static void record_unwritten(const struct output *output)
{
    const size_t count = output->value->size / (size_t)output->image->element_size;
    const unsigned char *written = output->image->written;
    size_t unwritten = 0, first = 0;
    char name[HARNESS_MAX_NAME + 32], text[64];

    for (size_t i = count; i-- > 0;) {
        if (!written[i]) {
            unwritten++;
            first = i;
        }
    }
    if (unwritten > 0) {
        snprintf(name, sizeof name, "attachment unwritten:%s", output->value->name);
        snprintf(text, sizeof text, "%zu %zu", unwritten, first);
        run.record(name, text, strlen(text));
    }
}

static int clean_up(void *node)
{
    (void)node;
    for (unsigned i = 0; i < run.output_count; i++) {
        const struct output *output = &run.outputs[i];
        memcpy(output->value->bytes, output->image->data, output->value->size);
        record_unwritten(output);
    }
    __opkit_report_copies();
    return 0;
}

/* Returns the action of the kernel as a verb and its object, or NULL for any other crash. */
static const char *describe_access(const struct harness_fault *fault)
{
    enum {
        STACK_REACH = 4096 /* how far from the stack's end a function may touch it first */
    };
    static char text[2 * __OPKIT_MAX_NAME];
    const char *argument = __opkit_describe_argument(fault->address);

    if (fault->code == SI_KERNEL) {
        return "accesses memory through a misaligned pointer, or an address that cannot be";
    }
    if (fault->address >= fault->stack_pointer - STACK_REACH &&
        fault->address < fault->stack_pointer + STACK_REACH) {
        return "overflows its stack";
    }
    if (argument == NULL) {
        return NULL;
    }
    snprintf(text, sizeof text, "accesses memory %s", argument);
    return text;
}

static bool describe_fault(struct harness_fault *fault, char *text, size_t size)
{
    static const char *const NAMES[] = {
        [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
        [SIGILL] = "SIGILL",   [SIGSEGV] = "SIGSEGV", [SIGTRAP] = "SIGTRAP",
    };
    const char *what = NULL;
    char item[96];

    __opkit_locate_fault(fault);
    snprintf(item, sizeof item, "work item (%lu, %lu, %lu)", __opkit_item.global_id[0],
             __opkit_item.global_id[1], __opkit_item.global_id[2]);
    if (fault->signal == SIGALRM) {
        snprintf(text, size, "did not end within %g s; it was in %s", run.invocation->limit, item);
        return true;
    }
    if (fault->signal == SIGFPE) {
        what = "divides by zero, or its quotient does not fit";
    } else if (fault->signal == SIGSEGV) {
        what = describe_access(fault);
    }
    if (what != NULL) {
        snprintf(text, size, "%s; %s (%s at address %#lx)", what, item, NAMES[fault->signal],
                 (unsigned long)fault->address);
    } else {
        snprintf(text, size, "crashed with %s at address %#lx, in %s", NAMES[fault->signal],
                 (unsigned long)fault->address, item);
    }
    return true;
}

const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {set_up, process, clean_up},
    .report = __opkit_report_events,
    .describe_fault = describe_fault,
    .stage_names = {"the kernel", "the kernel", "the kernel"},
};
