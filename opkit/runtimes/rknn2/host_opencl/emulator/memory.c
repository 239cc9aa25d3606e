/*
 * What a kernel accesses in a launch. Each buffer is copied to a place of its
 * own, far from any other, so that no access beside it meets another one. Of
 * each element it is known which work items have read and written it, between
 * which barriers.
 */
#include <sys/mman.h>

#include "emulator.h"

#define GAP ((size_t)64 << 20) /* bytes before and behind a region that belong to no other */

/* The accesses of an element: 0: of none, otherwise the number of a work item,
 * from 1. */
struct cell {
    uint32_t writer;
    uint32_t writer_phase;
    uint32_t reader;
    uint32_t reader_phase;
};

/* In the phase of a reader: others of its group, too. */
#define SEVERAL (UINT32_C(1) << 31)
/* In the phase of a writer: atomically, or by the whole group. */
#define JOINT (UINT32_C(1) << 31)
#define ALL_READ UINT32_MAX /* readers of several groups */

struct region {
    const char *name;
    unsigned char *start;
    size_t size;
    size_t granule; /* bytes of an element */
    bool is_local;
    bool is_read_only, is_write_only;
    struct cell *cells;
    unsigned char *defined; /* of each byte; NULL: all are */
    struct object *root; /* the buffer, from `begin` on; NULL: local memory */
    size_t begin;
    void *reserved; /* the memory with its gaps */
};

static struct region regions[MAX_ARGUMENTS + 1];
static int region_count;
static unsigned long items; /* of a group */
static uint8_t fill;

/* An output of the operator, over all of its launches. */
static struct output {
    const struct harness_value *value;
    unsigned char *written; /* of each byte */
} outputs[MAX_VALUES];
static unsigned output_count;
static bool has_launched; /* on memory of the operator's tensors */

/* ---- Accesses ---- */

static uint32_t group_of(uint32_t item)
{
    return (uint32_t)((item - 1) / items);
}

/*
 * Whether an access by a work item is before that of the running one in every
 * order. `now` is the number of barriers for this memory that the running one
 * has passed.
 */
static bool is_before(uint32_t item, uint32_t phase, uint32_t now)
{
    return item == __opkit_progress.item + 1 ||
           (group_of(item) == __opkit_progress.group && phase < now);
}

static bool races_with_writer(const struct cell *cell, uint32_t now)
{
    bool is_joint = __opkit_item.is_joint && (cell->writer_phase & JOINT) != 0;
    return cell->writer != 0 && !is_joint &&
           !is_before(cell->writer, cell->writer_phase & ~JOINT, now);
}

static bool races_with_readers(const struct cell *cell, uint32_t now)
{
    uint32_t phase = cell->reader_phase & ~SEVERAL;

    if (cell->reader == 0) {
        return false;
    }
    if (cell->reader == ALL_READ) {
        return true;
    }
    if ((cell->reader_phase & SEVERAL) != 0) {
        return group_of(cell->reader) != __opkit_progress.group || phase >= now;
    }
    return !is_before(cell->reader, phase, now);
}

static void note_reader(struct cell *cell, uint32_t now)
{
    uint32_t item = __opkit_progress.item + 1;

    if (__opkit_item.is_joint || cell->reader == ALL_READ) {
        return;
    }
    if (cell->reader == 0 || !races_with_readers(cell, now)) {
        cell->reader = item;
        cell->reader_phase = now;
    } else if (group_of(cell->reader) == __opkit_progress.group) {
        cell->reader_phase = now | SEVERAL;
    } else {
        cell->reader = ALL_READ;
    }
}

static void note_writer(struct cell *cell, uint32_t now)
{
    cell->reader = 0;
    cell->writer = __opkit_progress.item + 1;
    cell->writer_phase = now | (__opkit_item.is_joint ? JOINT : 0);
}

/* Reports an access at an offset; a variable in local memory is taken for one
 * of 32 bits each. */
static void report(const char *kind, const struct region *region, size_t offset, const void *caller)
{
    const char *name = region->name;
    size_t size = region->granule;

    if (region->is_local && region->reserved == NULL) {
        const char *variable = __opkit_local_name((uintptr_t)region->start + offset, &offset);
        name = variable == NULL ? name : variable;
        size = sizeof(uint32_t);
    }
    __opkit_buffer_event(kind, name, (long)(offset / size), caller);
}

/* Returns which race an access of an element is, or NULL. */
static const char *race_of(const struct cell *cell, bool writes, uint32_t now)
{
    if (races_with_writer(cell, now)) {
        return writes ? "write of an element that another work item writes"
                      : "read of an element that another work item writes";
    }
    return writes && races_with_readers(cell, now)
               ? "write of an element that another work item reads"
               : NULL;
}

static void note_access(const struct region *region, bool writes, size_t offset, size_t size,
                        const void *caller)
{
    const uint32_t now =
        region->is_local ? __opkit_progress.local_phase : __opkit_progress.global_phase;
    const char *race = NULL;

    if (writes ? region->is_read_only : region->is_write_only) {
        report(writes ? "write to a read-only buffer" : "read of a write-only buffer", region,
               offset, caller);
    }
    if (!writes && region->defined != NULL && memchr(region->defined + offset, 0, size) != NULL) {
        report("read of uninitialized memory", region, offset, caller);
    }
    if (writes && region->defined != NULL) {
        memset(region->defined + offset, 1, size);
    }
    for (size_t i = offset / region->granule; i * region->granule < offset + size; i++) {
        struct cell *cell = &region->cells[i];
        race = race == NULL ? race_of(cell, writes, now) : race;
        if (writes) {
            note_writer(cell, now);
        } else {
            note_reader(cell, now);
        }
    }
    if (race != NULL) {
        report(race, region, offset, caller);
    }
}

static struct region *region_near(uintptr_t start, size_t gap)
{
    for (int i = 0; i < region_count; i++) {
        uintptr_t first = (uintptr_t)regions[i].start - gap;
        if (start >= first && start < (uintptr_t)regions[i].start + regions[i].size + gap) {
            return &regions[i];
        }
    }
    return NULL;
}

/* Reports an access outside of all memory; its work item ends. */
static _Noreturn void leave(const char *access, uintptr_t start, const void *caller)
{
    bool writes = strcmp(access, "write") == 0;
    const struct region *region = region_near(start, GAP);

    __opkit_item.is_joint = false; /* where an atomic function did it */
    if (region == NULL) {
        __opkit_buffer_event(
            start < GAP ? (writes ? "write through a null pointer" : "read through a null pointer")
                        : (writes ? "write outside of all memory" : "read outside of all memory"),
            NULL, 0, caller);
    } else {
        long distance = (long)(start - (uintptr_t)region->start);
        long granule = (long)region->granule;
        __opkit_buffer_event(writes ? "write outside" : "read outside", region->name,
                             distance / granule - (distance % granule < 0), caller);
    }
    __opkit_abandon();
}

static bool observe(const char *access, uintptr_t start, size_t size, const void *caller)
{
    const struct region *region = region_near(start, 0);
    size_t offset;

    if (region == NULL) {
        if (!__opkit_is_known(start, size)) {
            leave(access, start, caller);
        }
        return false;
    }
    offset = start - (uintptr_t)region->start;
    if (size > region->size - offset) {
        leave(access, (uintptr_t)region->start + region->size, caller);
    }
    note_access(region, strcmp(access, "write") == 0, offset, size, caller);
    /* Variables in local memory have guards of their own. */
    return !region->is_local || region->reserved != NULL;
}

/* ---- Regions ---- */

static void *allocate(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        __opkit_die("no memory for a launch: %zu bytes", size);
    }
    return memory;
}

static size_t cells_size(const struct region *region)
{
    return (region->size / region->granule + 1) * sizeof *region->cells;
}

/* Gives a region its memory, between gaps. */
static void reserve(struct region *region)
{
    size_t whole = region->size + BASE_ALIGNMENT + 2 * GAP;
    uintptr_t first;

    region->reserved = mmap(NULL, whole, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region->reserved == MAP_FAILED) {
        __opkit_die("no memory for a launch: %zu bytes", whole);
    }
    first = ((uintptr_t)region->reserved + GAP) / BASE_ALIGNMENT * BASE_ALIGNMENT;
    region->start = (unsigned char *)first;
}

/* Returns the operator's tensor that a buffer is, or NULL. */
static const struct harness_value *tensor_of(const struct object *buffer)
{
    const char *name = buffer->buffer.is_import ? buffer->buffer.import.name : "";

    for (unsigned i = 0; name[0] != '\0' && i < session.value_count; i++) {
        if (strcmp(session.values[i].name, name) == 0) {
            return &session.values[i];
        }
    }
    return NULL;
}

/* Reports a parameter that is a pointer to elements of another type than the tensor's. */
static void check_type(const struct __opkit_parameter *parameter,
                       const struct harness_value *tensor)
{
    static const struct {
        const char *name;
        int type; /* enum __opkit_type; -1: elements that no pointer has */
    } TYPES[] = {
        [HARNESS_BOOL] = {"bool", -1},
        [HARNESS_CHAR] = {"char", -1},
        [HARNESS_INT8] = {"int8", __OPKIT_INT8},
        [HARNESS_UINT8] = {"uint8", __OPKIT_UINT8},
        [HARNESS_INT16] = {"int16", __OPKIT_INT16},
        [HARNESS_UINT16] = {"uint16", __OPKIT_UINT16},
        [HARNESS_INT32] = {"int32", __OPKIT_INT32},
        [HARNESS_UINT32] = {"uint32", __OPKIT_UINT32},
        [HARNESS_INT64] = {"int64", __OPKIT_INT64},
        [HARNESS_UINT64] = {"uint64", __OPKIT_UINT64},
        [HARNESS_FLOAT16] = {"float16", __OPKIT_FLOAT16},
        [HARNESS_FLOAT32] = {"float32", __OPKIT_FLOAT32},
        [HARNESS_FLOAT64] = {"float64", __OPKIT_FLOAT64},
    };

    if (parameter->type >= 0 && TYPES[tensor->type].type >= 0 &&
        parameter->type != TYPES[tensor->type].type) {
        log_line("misuse\tparameter '%s' of the kernel does not point to %s, which tensor '%s' has",
                 parameter->name, TYPES[tensor->type].name, tensor->name);
    }
}

/* Accesses are told apart by elements; those of vectors and structs by words.
 */
static size_t granule_of(const struct __opkit_parameter *parameter)
{
    return parameter->size > 4 ? 4 : parameter->size;
}

/* Returns the region of a buffer, joined with that of others which overlap it.
 */
static struct region *add_buffer(struct object *buffer, const struct __opkit_parameter *parameter)
{
    struct object *root = root_of(buffer);
    const struct harness_value *tensor = tensor_of(buffer);
    size_t begin = buffer->buffer.origin, end = begin + buffer->buffer.size;
    struct region *region = regions;

    while (
        region < regions + region_count &&
        (region->root != root || begin >= region->begin + region->size || end <= region->begin)) {
        region++;
    }
    if (region == regions + region_count) {
        region_count++;
        *region = (struct region){.name = tensor != NULL ? tensor->name : parameter->name,
                                  .granule = granule_of(parameter),
                                  .root = root,
                                  .begin = begin,
                                  .size = end - begin,
                                  .is_read_only = true,
                                  .is_write_only = true};
    }
    end = region->begin + region->size > end ? region->begin + region->size : end;
    region->begin = region->begin < begin ? region->begin : begin;
    region->size = end - region->begin;
    region->granule =
        region->granule < granule_of(parameter) ? region->granule : granule_of(parameter);
    if (tensor != NULL) {
        has_launched = true;
        check_type(parameter, tensor);
    }
    region->is_read_only &= (buffer->buffer.flags & OPKIT_CL_MEM_READ_ONLY) != 0;
    region->is_write_only &= (buffer->buffer.flags & 1 << 1) != 0;
    return region;
}

static void add_local(const char *name, size_t granule, unsigned char *start, size_t size)
{
    struct region *region = &regions[region_count++];

    *region = (struct region){
        .name = name, .granule = granule, .size = size, .is_local = true, .start = start};
    region->defined = allocate(size);
    if (start == NULL) {
        reserve(region);
    }
}

static struct output *output_of(const struct region *region)
{
    for (unsigned i = 0; i < output_count; i++) {
        if (strcmp(outputs[i].value->name, region->name) == 0) {
            return &outputs[i];
        }
    }
    return NULL;
}

static void copy_in(struct region *region)
{
    const struct buffer *buffer = &region->root->buffer;
    const struct output *output = output_of(region);

    reserve(region);
    memcpy(region->start, buffer->memory + region->begin, region->size);
    if (buffer->defined != NULL) {
        region->defined = buffer->defined + region->begin;
    } else if (output != NULL && region->size <= output->value->size) {
        region->defined = output->written;
    }
}

/* Adds the regions of the arguments, of which several may be in one; returns
 * their indices. */
static void add_arguments(const struct kernel *kernel, int *numbers)
{
    for (unsigned i = 0; i < kernel->count; i++) {
        const struct __opkit_parameter *parameter = &kernel->parameters[i];
        const struct argument *argument = &kernel->arguments[i];

        numbers[i] = -1;
        if (parameter->kind == __OPKIT_LOCAL_PARAMETER) {
            numbers[i] = region_count;
            add_local(parameter->name, granule_of(parameter), NULL, argument->size);
        } else if (argument->buffer != NULL) {
            numbers[i] = (int)(add_buffer(argument->buffer, parameter) - regions);
        }
    }
}

void map_memory(const struct kernel *kernel, unsigned long group_items, void **arguments)
{
    const char *text = attachment("opencl:fill");
    int numbers[MAX_ARGUMENTS];

    region_count = 0;
    items = group_items;
    fill = (uint8_t)(text == NULL ? 0xff : atoi(text));
    add_arguments(kernel, numbers);
    if (__opkit_local_size > 0) {
        add_local("__local", 1, __opkit_local_start, __opkit_local_size);
    }
    for (int i = 0; i < region_count; i++) {
        regions[i].cells = allocate(cells_size(&regions[i]));
        if (regions[i].root != NULL) {
            copy_in(&regions[i]);
        }
    }
    for (unsigned i = 0; i < kernel->count; i++) {
        const struct argument *argument = &kernel->arguments[i];
        const struct region *region = numbers[i] < 0 ? NULL : &regions[numbers[i]];
        size_t origin = argument->buffer == NULL ? 0 : argument->buffer->buffer.origin;

        arguments[i] = kernel->parameters[i].kind == __OPKIT_VALUE_PARAMETER
                           ? (void *)(uintptr_t)argument->value
                       : region == NULL ? NULL
                                        : region->start + origin - region->begin;
    }
    __opkit_observer = observe;
}

void begin_group(void)
{
    for (int i = 0; i < region_count; i++) {
        if (regions[i].is_local) {
            memset(regions[i].cells, 0, cells_size(&regions[i]));
            memset(regions[i].defined, 0, regions[i].size);
        }
        if (regions[i].is_local && regions[i].reserved != NULL) {
            memset(regions[i].start, fill, regions[i].size);
        }
    }
}

/* ---- Results ---- */

static void copy_out(const struct region *region)
{
    struct output *output = output_of(region);
    unsigned char *memory = region->root->buffer.memory + region->begin;

    for (size_t offset = 0; offset < region->size; offset++) {
        if (region->cells[offset / region->granule].writer != 0) {
            memory[offset] = region->start[offset];
            if (output != NULL && offset < output->value->size) {
                output->written[offset] = 1;
            }
        }
    }
}

void unmap_memory(void)
{
    __opkit_observer = NULL;
    for (int i = 0; i < region_count; i++) {
        struct region *region = &regions[i];
        if (region->root != NULL) {
            copy_out(region);
        } else {
            munmap(region->defined, region->size);
        }
        if (region->reserved != NULL) {
            munmap(region->reserved, region->size + BASE_ALIGNMENT + 2 * GAP);
        }
        munmap(region->cells, cells_size(region));
    }
    region_count = 0;
}

void begin_memory(void)
{
    has_launched = false;
    while (output_count > 0) { /* of a run that has not ended */
        free(outputs[--output_count].written);
    }
    for (unsigned i = 0; i < session.value_count; i++) {
        const struct harness_value *value = &session.values[i];
        if (value->role == HARNESS_OUTPUT && value->size > 0) {
            outputs[output_count++] = (struct output){value, calloc(value->size, 1)};
        }
    }
}

static void report_output(const struct output *output)
{
    size_t count = 1, element, unwritten = 0, first = 0;
    char name[HARNESS_MAX_NAME + 32], text[64];

    for (unsigned i = 0; i < output->value->rank; i++) {
        count *= output->value->shape[i];
    }
    element = output->value->size / count;
    for (size_t i = count; i-- > 0;) {
        if (memchr(output->written + i * element, 0, element) != NULL) {
            unwritten++;
            first = i;
        }
    }
    if (unwritten > 0) {
        snprintf(name, sizeof name, "attachment unwritten:%s", output->value->name);
        snprintf(text, sizeof text, "%zu %zu", unwritten, first);
        session.record(name, text, strlen(text));
    }
}

void report_outputs(void)
{
    for (unsigned i = 0; i < output_count; i++) {
        if (has_launched) {
            report_output(&outputs[i]);
        }
        free(outputs[i].written);
    }
    output_count = 0;
}
