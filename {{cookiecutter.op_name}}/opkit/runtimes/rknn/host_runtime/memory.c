/*
 * Blocks of memory between guard pages.
 *
 * A block ends where an inaccessible page begins: the first byte read or written past its end is a
 * fault. The page before it is inaccessible, too; the few bytes between that page and the block
 * hold a pattern, which is checked when the block is freed. A freed block becomes inaccessible as a
 * whole. The operator gets its malloc from here while a guarded call runs, and so do the tensors
 * that its kernel opens; the data of the device's tensors and arrays always lies here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hostrt.h"
#include "libc.h"

enum {
    GUARD = 1 << 16, /* inaccessible bytes on both sides; a multiple of every page size */
    MAX_FREED = 1 << 12, /* freed blocks that stay in the table, to find uses of them */
    LARGEST_ALIGNMENT = 1 << 12
};

struct block {
    vx_uint8 *map; /* with the guards; NULL: the block is libc's */
    size_t map_size;
    vx_uint8 *start;
    size_t size;
    size_t number; /* 1, 2, ... in the order of allocation */
    vx_uint8 fill; /* what the bytes around it were filled with */
    vx_reference owner; /* of a tensor's or an array's data; NULL: the operator's */
    /* the name of a tensor that the kernel opened; NULL: the block is from malloc */
    const char *tensor;
    bool freed;
};

static struct block *blocks;
static size_t block_count;
static size_t block_capacity;
static size_t freed_count;
static size_t last_number;
static bool guarding;
static bool is_active;
static vx_uint8 fill_byte;

static size_t page_size(void)
{
    static size_t size;
    if (size == 0) {
        size = (size_t)sysconf(_SC_PAGESIZE);
    }
    return size;
}

/*
 * The largest power of two that divides the size, at most 16: what an element of the block may
 * need.
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

/* A new row of the table, or NULL. */
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

/* The accessible pages, from start to end: the bytes around the block in them were filled. */
static vx_uint8 *filled_start(const struct block *block)
{
    return block->map + GUARD;
}

static const vx_uint8 *filled_end(const struct block *block)
{
    return block->map + block->map_size - GUARD;
}

static void *allocate(vx_reference owner, const char *tensor, size_t size, size_t alignment)
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
    vx_uint8 *map =
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
    memset(map + GUARD, fill_byte, pages);
    block_count++;
    const size_t number = owner || tensor ? 0 : ++last_number;
    *block = (struct block){map,   map_size, map + GUARD + pages - rounded,
                            size,  number,   fill_byte,
                            owner, tensor,   false};
    return block->start;
}

static void describe_block(const struct block *block, char *text, size_t size)
{
    if (block->owner != NULL) {
        char owner[160];
        hostrt_describe(block->owner, owner, sizeof owner);
        snprintf(text, size, "the data of %s (%zu bytes)", owner, block->size);
    } else if (block->tensor != NULL) {
        snprintf(text, size, "the elements of '%s' (%zu bytes)", block->tensor, block->size);
    } else {
        snprintf(text, size, "a block of %zu byte%s (allocation %zu)", block->size,
                 block->size == 1 ? "" : "s", block->number);
    }
}

/* Logs writes into the bytes around a block that no guard page covers. */
static void check_guards(const struct block *block)
{
    const vx_uint8 *first = filled_start(block);
    const vx_uint8 *last = filled_end(block);
    const vx_uint8 *end = block->start + block->size;
    char name[256];

    while (first < block->start && *first == block->fill) {
        first++;
    }
    while (last > end && last[-1] == block->fill) {
        last--;
    }
    describe_block(block, name, sizeof name);
    if (first < block->start) {
        hostrt_log_printf(HOSTRT_EVENT, "the operator wrote up to %zu bytes before the start of %s",
                          (size_t)(block->start - first), name);
    }
    if (last > end) {
        hostrt_log_printf(HOSTRT_EVENT, "the operator wrote up to %zu bytes past the end of %s",
                          (size_t)(last - end), name);
    }
}

static void remove_oldest_freed(void)
{
    for (size_t i = 0; i < block_count; i++) {
        if (blocks[i].freed) {
            munmap(blocks[i].map, blocks[i].map_size);
            memmove(&blocks[i], &blocks[i + 1], (--block_count - i) * sizeof *blocks);
            freed_count--;
            return;
        }
    }
}

/* ---- The operator's ---- */

void *hostrt_memory_new(size_t size, size_t alignment)
{
    if (alignment == 0) {
        alignment = natural_alignment(size);
    }
    return alignment <= LARGEST_ALIGNMENT ? allocate(NULL, NULL, size, alignment) : NULL;
}

static bool is_inside(const struct block *block, const void *address)
{
    return (const vx_uint8 *)address >= block->map &&
           (const vx_uint8 *)address < block->map + block->map_size;
}

bool hostrt_memory_free(void *start)
{
    struct block *block = find(start);
    char name[256];

    if (block == NULL || block->owner != NULL || block->tensor != NULL) {
        for (size_t i = block_count; i-- > 0;) {
            if (is_inside(&blocks[i], start)) {
                describe_block(&blocks[i], name, sizeof name);
                hostrt_log_printf(
                    HOSTRT_EVENT,
                    "the operator frees a pointer into %s, which it did not get from malloc", name);
                return true;
            }
        }
        return false;
    }
    if (block->freed) {
        describe_block(block, name, sizeof name);
        hostrt_log_printf(HOSTRT_EVENT, "the operator frees %s twice", name);
        return true;
    }
    check_guards(block);
    /* Inaccessible pages replace the old ones, which return to the system. */
    mmap(block->map, block->map_size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    block->freed = true;
    if (++freed_count > MAX_FREED) {
        remove_oldest_freed();
    }
    return true;
}

/* NULL with errno 0: not from here. */
void *hostrt_memory_resize(void *start, size_t size)
{
    const struct block *block = find(start);
    if (block == NULL || block->owner != NULL || block->tensor != NULL || block->freed) {
        errno = 0;
        return NULL;
    }
    const size_t old_size = block->size; /* `block` moves when the table grows */
    void *moved = hostrt_memory_new(size, 0);
    if (moved != NULL) {
        memcpy(moved, start, old_size < size ? old_size : size);
        hostrt_memory_free(start);
    }
    return moved;
}

/* ---- The runtime's: data of tensors and arrays ---- */

void *hostrt_device_new(vx_reference owner, size_t size)
{
    return allocate(owner, NULL, size, natural_alignment(size));
}

void hostrt_device_free(void *start)
{
    struct block *block = start ? find(start) : NULL;
    if (block != NULL) {
        check_guards(block);
        remove_block(block);
    }
}

/* ---- The elements of tensors that the kernel opens ---- */

static void *new_tensor(const char *name, size_t size)
{
#ifdef HOSTRT_ADDRESS_SANITIZER
    /* It guards what malloc returns, and reports the line that allocated it. */
    struct block *block = add_block();
    void *start = block != NULL ? __libc_malloc(size) : NULL;
    if (start != NULL) {
        block_count++;
        *block =
            (struct block){.start = memset(start, fill_byte, size), .size = size, .tensor = name};
    }
    return start;
#else
    return allocate(NULL, name, size, natural_alignment(size));
#endif
}

void *hostrt_tensor_memory(const char *name, size_t size, void *unguarded)
{
    return hostrt_memory_guards() ? new_tensor(name, size) : unguarded;
}

static void free_opened_tensors(void)
{
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].tensor != NULL) {
            if (blocks[i].map != NULL) {
                check_guards(&blocks[i]);
            }
            remove_block(&blocks[i]);
        }
    }
}

/* ---- Sessions ---- */

void hostrt_memory_begin(bool guard, vx_uint8 fill)
{
    guarding = guard;
    fill_byte = fill;
    last_number = 0;
}

void hostrt_memory_set_active(bool active)
{
    is_active = active;
    if (!active) {
        free_opened_tensors();
    }
}

bool hostrt_memory_guards(void)
{
    return guarding && is_active;
}

vx_uint8 hostrt_memory_fill(void)
{
    return fill_byte;
}

void hostrt_memory_end(bool report)
{
    size_t leaked = 0;
    size_t bytes = 0;
    char first[256] = "";

    for (size_t i = 0; i < block_count; i++) {
        const struct block *block = &blocks[i];
        if (report && !block->freed) {
            check_guards(block);
        }
        if (block->owner == NULL && !block->freed) {
            bytes += block->size;
            if (leaked++ == 0) {
                describe_block(block, first, sizeof first);
            }
        }
    }
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].owner == NULL) {
            remove_block(&blocks[i]);
        }
    }
    freed_count = 0;
    guarding = false;
    if (report && leaked == 1) {
        hostrt_log_printf(HOSTRT_LEAK, "%s was never freed", first);
    } else if (report && leaked > 1) {
        hostrt_log_printf(HOSTRT_LEAK, "%zu blocks (%zu bytes) were never freed, among them %s",
                          leaked, bytes, first);
    }
}

bool hostrt_memory_explain(const void *address, char *text, size_t size)
{
    const vx_uint8 *byte = address;
    for (size_t i = block_count; i-- > 0;) {
        const struct block *block = &blocks[i];
        if (!is_inside(block, byte)) {
            continue;
        }
        const vx_uint8 *end = block->start + block->size;
        char name[256];
        describe_block(block, name, sizeof name);
        if (block->freed && byte >= block->start && byte < end) {
            snprintf(text, size, "byte %zu of %s after it was freed", (size_t)(byte - block->start),
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
