/*
 * The emulator of OpenCL: runs `.cl` kernels, compiled for this PC, by opkit/opencl/runtime, and
 * answers like a Mali GPU, but more strictly.
 *
 *     session.c   the run
 *     imports.c   memory of descriptors
 *     objects.c   handles
 *     platform.c  platform, device, contexts
 *     library.c   the compiled source
 *     buffers.c   buffers
 *     programs.c  programs, kernels and their arguments
 *     memory.c    what a kernel accesses in a launch
 *     launches.c  queued launches and reads
 *
 * Each file calls only those above it.
 */
#ifndef OPKIT_HOST_OPENCL_EMULATOR_H
#define OPKIT_HOST_OPENCL_EMULATOR_H

#include "opkit/opencl/runtime/runtime.h"
#include "../session.h"

#pragma GCC visibility push(hidden)

/* The limits of a Mali-G52, by its clinfo. */
enum {
    MAX_GROUP_SIZE = 384,
    LOCAL_MEMORY = 32768,
    MAX_CONSTANT_BUFFER = 65536,
    BASE_ALIGNMENT = 128, /* bytes, of a sub-buffer's origin */
    MAX_ARGUMENTS = 64,
    MAX_VALUE = 128 /* bytes of an argument that is no pointer */
};

struct buffer {
    struct object *parent; /* of a sub-buffer; else NULL */
    size_t origin; /* in the parent */
    size_t size;
    uint64_t flags;
    unsigned char *memory;
    unsigned char *defined; /* for each byte of the memory, whether something has set it */
    bool is_import;
    struct import import;
};

struct program {
    char *source;
    bool is_built;
    char log[512];
};

struct argument {
    bool is_set;
    size_t size;
    unsigned char value[MAX_VALUE];
    void *handle; /* of a buffer; NULL: a null pointer */
    struct object *buffer; /* of the handle, in a queued launch */
};

struct kernel {
    char name[128];
    void (*entry)(void **arguments);
    const struct __opkit_parameter *parameters;
    const unsigned long *needs; /* whether it has a barrier, and the local size or zeros */
    unsigned count;
    struct argument arguments[MAX_ARGUMENTS];
};

struct object {
    enum object_kind kind;
    uintptr_t serial; /* 0: never used */
    unsigned references; /* of the program; 0: it has released it */
    unsigned uses; /* by other objects, and by queued commands */
    struct object *owner; /* the object that it uses */
    union {
        struct buffer buffer;
        struct program program;
        struct kernel kernel;
    };
};

/* objects.c */
/* Makes an object that uses another one, or NULL; returns NULL if there are too many. */
struct object *new_object(enum object_kind kind, struct object *owner);
void *handle_of(const struct object *object);
/* Returns the object of a handle, or NULL: it is of another kind, or released. */
struct object *find_object(const void *handle, enum object_kind kind);
struct object *find_buffer(const void *handle);
void retain_use(struct object *object);
void release_use(struct object *object);
/* Releases what clRelease... gets, and returns the status. */
int32_t release_object(struct object *object, int32_t invalid);
/* Free what objects of a kind have; NULL: nothing. */
extern void (*free_details[OBJECT_KINDS])(struct object *object);

/* platform.c */
bool is_platform(opkit_cl_platform platform);
opkit_cl_device the_device(void);

/* library.c */
/* Lets events go to the record of the run. */
void open_log(void);
/* Opens the compiled source, once; returns why not, or NULL. */
const char *open_library(void);
const void *library_symbol(const char *prefix, const char *name);

/* buffers.c */
struct object *root_of(struct object *buffer);

/* memory.c */
void begin_memory(void);
/* Records the elements of outputs that no launch has written. */
void report_outputs(void);
/* Gives a launch its memory, and fills in the arguments of the kernel. */
void map_memory(const struct kernel *kernel, unsigned long group_items, void **arguments);
void begin_group(void);
/* Copies what the launch has written, and frees its memory. */
void unmap_memory(void);

#pragma GCC visibility pop

#endif
