/* The launch of a GPU kernel: its work items, and the arguments behind inputs and outputs. */
#ifndef OPKIT_LAUNCH_H
#define OPKIT_LAUNCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPKIT_MAX_LAUNCH_ARGUMENTS = 32
};

enum opkit_argument_kind {
    OPKIT_ARGUMENT_VALUE,
    OPKIT_ARGUMENT_ARRAY,
    OPKIT_ARGUMENT_SCRATCH,
    OPKIT_ARGUMENT_LOCAL
};

struct opkit_argument {
    enum opkit_argument_kind kind;
    size_t size; /* bytes */
    unsigned char value[4];
    void *data; /* of an array; NULL: it is empty, or memory was not enough */
};

/*
 * The work items and arguments of a kernel. The kernel's first arguments are the inputs and the
 * outputs in the order of op.yml; those of the functions below follow, in the order of the calls.
 */
struct opkit_launch {
    size_t global_size[3]; /* the work items along x, y and z; 0 counts as 1 */
    /*
     * The work items of a group; 0: the driver chooses. Otherwise global_size is rounded up to
     * whole groups, so a kernel compares its id with the number of elements.
     */
    size_t local_size[3];
    size_t argument_count;
    struct opkit_argument arguments[OPKIT_MAX_LAUNCH_ARGUMENTS];
};

static inline struct opkit_argument *opkit_add_argument(struct opkit_launch *launch,
                                                        enum opkit_argument_kind kind, size_t size)
{
    static struct opkit_argument ignored; /* the launch fails, because it counts too many */
    struct opkit_argument *argument = launch->argument_count < OPKIT_MAX_LAUNCH_ARGUMENTS
                                          ? &launch->arguments[launch->argument_count]
                                          : &ignored;

    launch->argument_count++;
    argument->kind = kind;
    argument->size = size;
    return argument;
}

/* Adds an argument of type int. */
static inline void opkit_add_int(struct opkit_launch *launch, int32_t value)
{
    struct opkit_argument *argument =
        opkit_add_argument(launch, OPKIT_ARGUMENT_VALUE, sizeof value);

    memcpy(argument->value, &value, sizeof value);
}

/* Adds an argument of type float. */
static inline void opkit_add_float(struct opkit_launch *launch, float value)
{
    struct opkit_argument *argument =
        opkit_add_argument(launch, OPKIT_ARGUMENT_VALUE, sizeof value);

    memcpy(argument->value, &value, sizeof value);
}

/*
 * Adds an argument of type `__global const T *` or `__constant T *`: a copy of an array of `size`
 * bytes. An empty array is a null pointer.
 */
static inline void opkit_add_array(struct opkit_launch *launch, const void *data, size_t size)
{
    struct opkit_argument *argument = opkit_add_argument(launch, OPKIT_ARGUMENT_ARRAY, size);

    if (launch->argument_count <= OPKIT_MAX_LAUNCH_ARGUMENTS && size > 0) {
        argument->data = malloc(size);
        if (argument->data != NULL) {
            memcpy(argument->data, data, size);
        }
    }
}

/* Adds an argument of type `__global T *`: uninitialized memory of all work items of the launch. */
static inline void opkit_add_scratch(struct opkit_launch *launch, size_t size)
{
    (void)opkit_add_argument(launch, OPKIT_ARGUMENT_SCRATCH, size);
}

/* Adds an argument of type `__local T *`: uninitialized memory of each group. */
static inline void opkit_add_local(struct opkit_launch *launch, size_t size)
{
    (void)opkit_add_argument(launch, OPKIT_ARGUMENT_LOCAL, size);
}

#endif
