/*
 * Blocks of memory between guard pages.
 *
 * A block ends at an inaccessible page: reading or writing the first byte past its end is a fault.
 * With guards before, it begins at one instead. The page on its other side is inaccessible, too;
 * the few bytes between that page and the block hold a pattern, which is checked when the block is
 * freed. A freed block of the operator becomes inaccessible as a whole.
 *
 * A huge block is filled only at its ends: an operator may access little of its memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guarded_memory.h"
#include "libc_memory.h"

enum {
    /* Inaccessible bytes on both sides; a multiple of every page size. */
    GUARD = sizeof(void *) > 4 ? 1 << 22 : 1 << 16,
    FILLED = 1 << 24, /* bytes at each end of a block; the rest stays 0 and uncommitted */
    MAX_FREED = 1 << 12, /* freed blocks in the table, to detect their use */
    LARGEST_ALIGNMENT = 1 << 12
};

struct block {
    uint8_t *map; /* with the guards; NULL: the block is libc's */
    size_t map_size;
    uint8_t *start;
    size_t size;
    size_t number; /* of a block from malloc: 1, 2, ... in the order of allocation */
    const void *caller; /* the return address of its allocation */
    uint8_t fill; /* the value of the bytes around it */
    guarded_describe_f *describe; /* NULL: a block of the operator, from malloc */
    const void *owner; /* for `describe` */
    bool for_stage; /* freed when the stage ends */
    bool read_only;
    bool freed;
};

/* Of the blocks and of `record`: an operator may have several threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct block *blocks;
static size_t block_count;
static size_t block_capacity;
static size_t freed_count;
static size_t last_number;
static size_t heap; /* bytes of the operator's blocks, not freed */
static size_t heap_peak;
static unsigned running; /* runs that have begun and not ended */
static bool guarding;
static bool guards_before;
static bool is_active;
static unsigned stage; /* the number of the last one */
static uint8_t fill_byte;
static harness_record_f *record;

static size_t page_size(void)
{
    static size_t size;
    if (size == 0) {
        size = (size_t)sysconf(_SC_PAGESIZE);
    }
    return size;
}

/*
 * Returns the largest power of two that divides the size, at most 16: the alignment of an element
 * of the block.
 */
static size_t natural_alignment(size_t size)
{
    const size_t power = size & (~size + 1);
    return power == 0 || power > 16 ? 16 : power;
}

static struct block *find(const void *start)
{
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].start == start) {
            return &blocks[i];
        }
    }
    return NULL;
}

static void remove_block(struct block *block)
{
    if (block->map != NULL) {
        munmap(block->map, block->map_size);
    } else {
        __libc_free(block->start);
    }
    *block = blocks[--block_count];
}

/* Returns a new row of the table, or NULL if out of memory. */
static struct block *add_block(void)
{
    if (block_count == block_capacity) {
        const size_t capacity = block_capacity ? 2 * block_capacity : 64;
        struct block *more = __libc_realloc(blocks, capacity * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        blocks = more;
        block_capacity = capacity;
    }
    return &blocks[block_count];
}

/* The first and the last + 1 of the accessible bytes; those around the block hold the fill. */
static uint8_t *filled_start(const struct block *block)
{
    return block->map + GUARD;
}

static const uint8_t *filled_end(const struct block *block)
{
    return block->map + block->map_size - GUARD;
}

void guarded_memory_set(uint8_t *start, uint8_t byte, size_t size)
{
    if (size <= 2 * FILLED) {
        memset(start, byte, size);
    } else {
        memset(start, byte, FILLED);
        memset(start + size - FILLED, byte, FILLED);
    }
}

/* Returns a block without owner, which is the operator's by default, or NULL if out of memory. */
static struct block *allocate(size_t size, size_t alignment)
{
    if (size > PTRDIFF_MAX - 2 * GUARD - LARGEST_ALIGNMENT - page_size()) {
        errno = ENOMEM;
        return NULL;
    }
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    const size_t pages = (rounded + page_size() - 1) / page_size() * page_size();
    struct block *block = add_block();
    if (block == NULL) {
        return NULL;
    }
    const size_t map_size = pages + 2 * GUARD;
    uint8_t *map =
        mmap(NULL, map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        errno = ENOMEM;
        return NULL;
    }
    if (pages > 0 && mprotect(map + GUARD, pages, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, map_size);
        errno = ENOMEM;
        return NULL;
    }
    guarded_memory_set(map + GUARD, fill_byte, pages);
    block_count++;
    *block = (struct block){
        .map = map,
        .map_size = map_size,
        .start = map + GUARD + (guards_before ? 0 : pages - rounded),
        .size = size,
        .fill = fill_byte,
    };
    return block;
}

/* ---- Messages ---- */

static void describe_block(const struct block *block, char *text, size_t size)
{
    if (block->describe != NULL) {
        char name[192];
        block->describe(block->owner, name, sizeof name);
        snprintf(text, size, "%s (%zu bytes)", name, block->size);
    } else {
        snprintf(text, size, "a block of %zu byte%s (allocation %zu)", block->size,
                 block->size == 1 ? "" : "s", block->number);
    }
}

/* Records a sentence about the operator's call that returns to `caller`; NULL: about none. */
__attribute__((format(printf, 3, 4))) static void record_text(const char *kind, const void *caller,
                                                              const char *format, ...)
{
    char text[512];
    char what[64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(what, sizeof what, caller != NULL ? "%s %" PRIuPTR : "%s", kind, (uintptr_t)caller);
    if (record != NULL) {
        record(what, text, strlen(text));
    }
}

void guarded_memory_record(const char *kind, const void *caller, const char *text)
{
    pthread_mutex_lock(&lock);
    record_text(kind, caller, "%s", text);
    pthread_mutex_unlock(&lock);
}

/* Records writes to the bytes between a block and its guard pages. */
static void check_guards(const struct block *block)
{
    const uint8_t *first = filled_start(block);
    const uint8_t *last = filled_end(block);
    const uint8_t *end = block->start + block->size;
    char name[256];

    while (first < block->start && *first == block->fill) {
        first++;
    }
    while (last > end && last[-1] == block->fill) {
        last--;
    }
    describe_block(block, name, sizeof name);
    if (first < block->start) {
        record_text("event", NULL, "the operator wrote up to %zu bytes before the start of %s",
                    (size_t)(block->start - first), name);
    }
    if (last > end) {
        record_text("event", NULL, "the operator wrote up to %zu bytes past the end of %s",
                    (size_t)(last - end), name);
    }
}

static void remove_oldest_freed(void)
{
    for (size_t i = 0; i < block_count; i++) {
        if (blocks[i].freed) {
            munmap(blocks[i].map, blocks[i].map_size);
            races_forget();
            memmove(&blocks[i], &blocks[i + 1], (--block_count - i) * sizeof *blocks);
            freed_count--;
            return;
        }
    }
}

/* ---- The operator's blocks ---- */

static void *new_for_operator(size_t size, size_t alignment, const void *caller)
{
    if (alignment == 0) {
        alignment = natural_alignment(size);
    }
    struct block *block = alignment <= LARGEST_ALIGNMENT ? allocate(size, alignment) : NULL;
    if (block == NULL) {
        return NULL;
    }
    block->number = ++last_number;
    block->caller = caller;
    heap += size;
    heap_peak = heap > heap_peak ? heap : heap_peak;
    return block->start;
}

static bool is_inside(const struct block *block, const void *address)
{
    return (const uint8_t *)address >= block->map &&
           (const uint8_t *)address < block->map + block->map_size;
}

uintptr_t guarded_memory_start(uintptr_t address)
{
    uintptr_t start = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = block_count; i-- > 0 && start == 0;) {
        if (is_inside(&blocks[i], (const void *)address)) {
            start = (uintptr_t)blocks[i].start;
        }
    }
    pthread_mutex_unlock(&lock);
    return start;
}

static bool free_for_operator(void *start, const void *caller)
{
    struct block *block = find(start);
    char name[256];

    if (block == NULL || block->describe != NULL) {
        for (size_t i = block_count; i-- > 0;) {
            if (is_inside(&blocks[i], start)) {
                describe_block(&blocks[i], name, sizeof name);
                record_text(
                    "event", caller,
                    "the operator frees a pointer into %s, which it did not get from malloc", name);
                return true;
            }
        }
        return false;
    }
    if (block->freed) {
        describe_block(block, name, sizeof name);
        record_text("event", caller, "the operator frees %s twice", name);
        return true;
    }
    check_guards(block);
    /* Inaccessible pages replace the old pages, which return to the system. */
    mmap(block->map, block->map_size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    block->freed = true;
    heap -= block->size;
    if (++freed_count > MAX_FREED) {
        remove_oldest_freed();
    }
    return true;
}

bool guarded_memory_is_freed(const void *start)
{
    const struct block *block = find(start);
    return block != NULL && block->freed;
}

static void *resize_for_operator(void *start, size_t size, const void *caller)
{
    const struct block *block = find(start);
    if (block == NULL || block->describe != NULL || block->freed) {
        errno = 0;
        return NULL;
    }
    const size_t old_size = block->size; /* `block` is invalid after the table grows */
    void *moved = new_for_operator(size, 0, caller);
    if (moved != NULL) {
        memcpy(moved, start, old_size < size ? old_size : size);
        free_for_operator(start, caller);
    }
    return moved;
}

void *guarded_memory_new(size_t size, size_t alignment, const void *caller)
{
    pthread_mutex_lock(&lock);
    void *start = new_for_operator(size, alignment, caller);
    pthread_mutex_unlock(&lock);
    return start;
}

bool guarded_memory_free(void *start, const void *caller)
{
    pthread_mutex_lock(&lock);
    const bool is_known = free_for_operator(start, caller);
    pthread_mutex_unlock(&lock);
    return is_known;
}

void *guarded_memory_resize(void *start, size_t size, const void *caller)
{
    pthread_mutex_lock(&lock);
    void *moved = resize_for_operator(start, size, caller);
    pthread_mutex_unlock(&lock);
    return moved;
}

/* ---- The runtime's blocks ---- */

#ifdef HARNESS_ADDRESS_SANITIZER
/* AddressSanitizer guards the memory of malloc, and reports the line of the allocation. */
static struct block *allocate_for_runtime(size_t size)
{
    struct block *block = add_block();
    void *start = block != NULL ? __libc_malloc(size) : NULL;
    if (start == NULL) {
        return NULL;
    }
    block_count++;
    *block = (struct block){.start = memset(start, fill_byte, size), .size = size};
    return block;
}
#else
static struct block *allocate_for_runtime(size_t size)
{
    return allocate(size, natural_alignment(size));
}
#endif

static void *new_block(guarded_describe_f *describe, const void *owner, size_t size, bool for_stage)
{
    struct block *block = allocate_for_runtime(size);
    if (block == NULL) {
        return NULL;
    }
    block->describe = describe;
    block->owner = owner;
    block->for_stage = for_stage;
    return block->start;
}

void *guarded_block_new(guarded_describe_f *describe, const void *owner, size_t size)
{
    return new_block(describe, owner, size, false);
}

void *guarded_block_new_for_stage(guarded_describe_f *describe, const void *owner, size_t size)
{
    return new_block(describe, owner, size, true);
}

void guarded_block_protect(void *start)
{
    struct block *block = find(start);
    if (block != NULL && block->map != NULL && block->describe != NULL) {
        block->read_only =
            mprotect(filled_start(block), block->map_size - 2 * GUARD, PROT_READ) == 0;
    }
}

static void delete_block(struct block *block)
{
    if (block->map != NULL) {
        check_guards(block);
    }
    remove_block(block);
}

void guarded_block_delete(void *start)
{
    struct block *block = start != NULL ? find(start) : NULL;
    if (block != NULL) {
        delete_block(block);
    }
}

static void delete_blocks_for_stage(void)
{
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].for_stage) {
            delete_block(&blocks[i]);
        }
    }
}

/* ---- Runs ---- */

void guarded_memory_begin(const struct harness_invocation *invocation,
                          harness_record_f *record_function)
{
    guarding = invocation->guarded;
    guards_before = invocation->guards_before;
    fill_byte = invocation->fill;
    record = record_function;
    checked_loops_begin(invocation->threads);
    races_begin();
    if (running++ == 0) {
        last_number = heap = heap_peak = 0;
    }
}

/* Records the race of a stage's loops, if there is one. */
static void record_race(void)
{
    const struct race race = races_take();
    char name[256] = "a variable";

    if (race.address == NULL) {
        return;
    }
    for (size_t i = 0; i < block_count; i++) {
        if (is_inside(&blocks[i], race.address)) {
            memcpy(name, "an element of ", 15);
            describe_block(&blocks[i], name + 14, sizeof name - 14);
        }
    }
    record_text("event", race.caller,
                "data race: a part of opkit_parallel_for %s %s that another part %s; parts run at "
                "the same time, so each must write elements of its own, to be combined after the "
                "loop",
                race.is_store ? "writes" : "reads", name, race.is_store ? "uses" : "writes");
}

void guarded_memory_set_active(bool active)
{
    is_active = active;
    stage += active;
    if (!active) {
        record_race();
        delete_blocks_for_stage();
    }
}

bool guarded_memory_is_guarding(void)
{
    return guarding && is_active;
}

unsigned guarded_memory_stage(void)
{
    return is_active ? stage : 0;
}

uint8_t guarded_memory_fill(void)
{
    return fill_byte;
}

void guarded_memory_end(void)
{
    size_t leaked = 0;
    size_t bytes = 0;
    const void *caller = NULL;
    char first[256] = "";

    if (checked_loops_divided()) {
        record_text("divided", NULL, "%s", "");
    }
    if (--running > 0) {
        return;
    }
    for (size_t i = 0; i < block_count; i++) {
        const struct block *block = &blocks[i];
        if (block->map != NULL && !block->freed) {
            check_guards(block);
        }
        if (block->describe == NULL && !block->freed) {
            bytes += block->size;
            if (leaked++ == 0) {
                describe_block(block, first, sizeof first);
                caller = block->caller;
            }
        }
    }
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].describe == NULL) {
            remove_block(&blocks[i]);
        }
    }
    if (guarding) {
        record_text("heap", NULL, "%zu", heap_peak);
    }
    freed_count = 0;
    guarding = false;
    if (leaked == 1) {
        record_text("leak", caller, "%s was never freed", first);
    } else if (leaked > 1) {
        record_text("leak", caller, "%zu blocks (%zu bytes) were never freed, among them %s",
                    leaked, bytes, first);
    }
}

bool guarded_memory_explain(const void *address, char *text, size_t size)
{
    const uint8_t *byte = address;
    for (size_t i = block_count; i-- > 0;) {
        const struct block *block = &blocks[i];
        if (!is_inside(block, byte)) {
            continue;
        }
        const uint8_t *end = block->start + block->size;
        char name[256];
        describe_block(block, name, sizeof name);
        if (block->freed && byte >= block->start && byte < end) {
            snprintf(text, size, "byte %zu of %s after it was freed", (size_t)(byte - block->start),
                     name);
        } else if (block->read_only && byte >= block->start && byte < end) {
            snprintf(text, size, "byte %zu of %s, a read-only input", (size_t)(byte - block->start),
                     name);
        } else if (byte < block->start) {
            snprintf(text, size, "%zu bytes before the start of %s", (size_t)(block->start - byte),
                     name);
        } else if (byte == end) {
            snprintf(text, size, "just past the end of %s", name);
        } else {
            snprintf(text, size, "%zu bytes past the end of %s", (size_t)(byte - end), name);
        }
        return true;
    }
    return false;
}
