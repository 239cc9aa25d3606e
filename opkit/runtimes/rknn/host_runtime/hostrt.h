/*
 * The host runtime: a small libOpenVX.so for the PC.
 *
 * It runs an operator's library as the board does. Sizes, error codes and the order in which they
 * are tested were measured on the board's driver 1.7.5. A likely bug that the board does not
 * report (for instance a copy that copies nothing) behaves as on the board and is logged as an
 * event, so that a test can fail on it.
 *
 *     types.c      the attributes of each VX_TYPE_...
 *     reference.c  the common part of all objects; contexts
 *     tensor.c  scalar.c  array.c  kernel.c  graph.c
 *     log.c        the log of vxAddLogEntry, events and leaks
 *     driver.c     runs a graph of one node for the harness, opkit/check/harness/
 *
 * The data of tensors and arrays, and the operator's memory from malloc, is guarded.
 *
 * A process has one runtime and calls it from one thread at a time.
 */
#ifndef HOSTRT_H
#define HOSTRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <VX/vx.h>
#include <VX/vx_ext_program.h>
#include <VX/vx_helper.h>

#define HOSTRT_MAX_RANK 6

/* ---- For the program that drives the runtime ---- */

enum hostrt_log {
    HOSTRT_LOG, /* the messages of vxAddLogEntry */
    HOSTRT_EVENT, /* likely bugs that the board does not report */
    HOSTRT_LEAK, /* objects that the operator did not release */
    HOSTRT_REASON /* calls that failed, and why */
};

/* The text of an entry and its status, in the order of writing; NULL after the last. */
VX_API_ENTRY const char *hostrt_log_entry(enum hostrt_log log, vx_size index, vx_status *status);
/* Empties all logs. */
VX_API_ENTRY void hostrt_log_clear(void);

/* Sets the name of an object for messages. Cut after VX_MAX_REFERENCE_NAME bytes. */
VX_API_ENTRY vx_status hostrt_set_name(vx_reference reference, const char *name);

/*
 * For a kernel that is compiled with OPKIT_GUARDED: returns memory for the elements of a tensor
 * that it opens. While memory is guarded, that is a block of its own, which is freed after the
 * stage, or NULL if there is no memory. Otherwise it is `unguarded`.
 */
VX_API_ENTRY void *hostrt_tensor_memory(const char *name, size_t size, void *unguarded);
/* Makes the memory of an input read-only, unless it is unguarded. */
VX_API_ENTRY void hostrt_protect_tensor(void *elements);

/* Returns the launch of the node's VX kernel, as its initializer set it; vxQueryNode does not. */
VX_API_ENTRY vx_status hostrt_launch(vx_node node, vx_kernel_execution_parameters_t *launch);

/*
 * Declares a _viv_uniform of the node's kernel, as the program binary would: its name and its size
 * in bytes. When a kernel has any, vxSetNodeUniform copies that many bytes and refuses to set more
 * uniforms than there are.
 */
VX_API_ENTRY vx_status hostrt_declare_uniform(vx_node node, const vx_char *name, vx_size size);
/*
 * The uniforms that were set: name, value (NULL when its size was not declared) and count; false
 * after the last.
 */
VX_API_ENTRY vx_bool hostrt_uniform(vx_node node, vx_size index, const vx_char **name,
                                    vx_size *count, const void **value, vx_size *size);

/* ---- Inside ---- */

#pragma GCC visibility push(hidden)

/* Every object begins with this. It is destroyed when both of its counts are 0. */
struct vx_reference_s {
    vx_enum type;
    vx_status status; /* of an error object */
    vx_context context;
    vx_uint32 external_count; /* of the application and the operator: VX_REFERENCE_COUNT */
    vx_uint32 internal_count; /* of the runtime */
    bool in_snapshot; /* existed when the snapshot was taken */
    vx_uint32 snapshot_count; /* the external count then */
    vx_char name[VX_MAX_REFERENCE_NAME];
    void (*destroy)(vx_reference reference);
    vx_reference next; /* in the list of all objects */
};

struct vx_context_s {
    struct vx_reference_s base;
};

struct vx_tensor_s {
    struct vx_reference_s base;
    vx_uint32 rank;
    vx_enum data_type;
    vx_uint32 dims[HOSTRT_MAX_RANK];
    vx_size strides[HOSTRT_MAX_RANK]; /* bytes */
    vx_uint8 *data; /* NULL until it is needed; a view's lies in its parent */
    vx_tensor parent; /* NULL but in a view */
    vx_size offset; /* of a view in its parent, bytes */
    vx_int8 fixed_point_position;
    vx_enum quant_format;
    vx_int32 zero_point;
    vx_float32 scale;
    vx_enum order;
    vx_enum precision;
    vx_enum lifetime;
    vx_enum value;
};

struct vx_scalar_s {
    struct vx_reference_s base;
    vx_enum data_type;
    vx_uint8 value[40];
};

struct vx_array_s {
    struct vx_reference_s base;
    vx_enum item_type;
    vx_size count;
    vx_size capacity;
    vx_size item_size;
    vx_uint8 *items;
};

struct vx_program_s {
    struct vx_reference_s base;
    bool built;
};

struct vx_kernel_s {
    struct vx_reference_s base;
    vx_char kernel_name[VX_MAX_KERNEL_NAME];
    vx_enum enumeration;
    vx_kernel_f function; /* NULL: a VX kernel */
    vx_kernel_validate_f validate;
    vx_kernel_initialize_f initialize;
    vx_kernel_deinitialize_f deinitialize;
    vx_uint32 parameter_count;
    vx_param_description_t *parameters;
    bool finalized;
};

struct vx_graph_s {
    struct vx_reference_s base;
    vx_node *nodes;
    vx_size node_count;
    bool verified;
    bool reverify; /* changed since it was verified: deinitializers run before the validators */
    /* Of the first CPU kernel that failed. vxProcessGraph does not return it, as on the board. */
    vx_status kernel_status;
};

struct hostrt_uniform {
    const vx_char *name; /* the caller's text, as on the board */
    vx_char copy[VX_MAX_KERNEL_NAME];
    vx_size count;
    vx_size size;
    void *value;
    bool set;
};

struct vx_node_s {
    struct vx_reference_s base;
    vx_graph graph;
    vx_kernel kernel;
    vx_reference *parameters;
    vx_uint32 parameter_count;
    bool local_data_settable; /* while initialize or deinitialize runs */
    bool owns_local_data; /* the runtime allocated it */
    bool new_local_data; /* the runtime allocated it at the last verification */
    bool ready; /* while vxVerifyGraph looks for cycles */
    vx_status last_status;
    vx_size local_data_size;
    void *local_data;
    vx_uint8 performance[64];
    vx_border_t border;
    vx_bool is_replicated;
    vx_kernel_execution_parameters_t execution;
    struct hostrt_uniform *uniforms;
    vx_size uniform_count;
    bool uniforms_declared;
};

struct vx_meta_format_s {
    struct vx_reference_s base;
    vx_enum described; /* the type of the output that it is about */
};

/* types.c */
vx_size hostrt_scalar_size(vx_enum type); /* 0: scalars of this type cannot be stored */
vx_size hostrt_item_size(vx_enum type); /* 0: no type of an array's items */
vx_size hostrt_element_size(vx_enum type); /* 0: no type of a tensor */
bool hostrt_is_type(vx_enum type);
const char *hostrt_type_name(vx_enum type);

/* reference.c */
void *hostrt_new(vx_context context, vx_enum type, size_t size, void (*destroy)(vx_reference));
vx_reference hostrt_new_error(vx_context context, vx_status status);
/* False for NULL and for pointers that are no reference, or no longer one. */
bool hostrt_is(const void *reference, vx_enum type);
/* The runtime's own references: the internal count. */
void hostrt_retain(void *reference);
void hostrt_release(void *reference);
/* A vxRelease...: decrements the external count, and sets the handle to NULL. */
vx_status hostrt_release_handle(vx_reference *reference, vx_enum type);
/* Compares the external counts with those in the snapshot; logs the differences as leaks. */
void hostrt_snapshot_references(vx_context context);
void hostrt_compare_references(vx_context context);
/* Returns a reference that the caller has to release, or NULL. */
vx_kernel hostrt_find_kernel(vx_context context, const vx_char *name);
void hostrt_describe(const struct vx_reference_s *reference, char *text, size_t size);
/* Memory for the data of a tensor or an array, freed with guarded_block_delete; or NULL. */
void *hostrt_new_data(vx_reference owner, size_t size);

enum hostrt_access {
    HOSTRT_READ,
    HOSTRT_READ_WRITE,
    HOSTRT_WRITE,
    HOSTRT_IN_CALLBACK /* settable while initialize or deinitialize runs */
};

/* An attribute that is a member of its object's struct. */
struct hostrt_attribute {
    vx_enum attribute;
    size_t offset;
    vx_size size;
    enum hostrt_access access;
};
const struct hostrt_attribute *hostrt_find_attribute(const struct hostrt_attribute *table,
                                                     size_t count, vx_enum attribute);
/*
 * Whether a value has the exact size, and is aligned to 4 bytes unless it is smaller. `function`
 * names the caller in an event.
 */
bool hostrt_fits(const char *function, const struct hostrt_attribute *attribute, const void *value,
                 vx_size size);
vx_status hostrt_query(const char *function, const struct hostrt_attribute *table, size_t count,
                       const void *object, vx_enum attribute, void *value, vx_size size,
                       vx_status unknown);
/* Sets a HOSTRT_READ_WRITE attribute. */
vx_status hostrt_set(const char *function, const struct hostrt_attribute *table, size_t count,
                     void *object, vx_enum attribute, const void *value, vx_size size);

/* tensor.c */
/* Whether tensors, of which any may be a view, have elements in common. */
bool hostrt_tensors_overlap(vx_tensor a, vx_tensor b);

/* A table of maps, shared by tensors and arrays. */
vx_map_id hostrt_add_map(vx_reference owner);
bool hostrt_remove_map(vx_reference owner, vx_map_id id);
void hostrt_compare_maps(vx_context context);

/* log.c */
/* The callback that runs, for messages. */
extern const char *hostrt_phase;
/* The function of this runtime that accesses the operator's memory, for messages; or NULL. */
extern const char *hostrt_function;

void hostrt_log_printf(enum hostrt_log log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Logs an event: a call that ends the process on the board, and fails here. */
void hostrt_log_crash(const char *function, const char *reason);
/* Logs why a call fails, "<function>: <reason>"; returns `status`. */
vx_status hostrt_refuse(vx_status status, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void hostrt_log_append(enum hostrt_log log, vx_status status, const char *text);

#pragma GCC visibility pop

#endif
