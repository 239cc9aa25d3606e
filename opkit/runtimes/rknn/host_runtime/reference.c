/*
 * The common part of all objects: type, counts, name, attributes, maps; and contexts.
 *
 * All objects are in one list. A handle is valid if it is in the list, so that a pointer that never
 * was one, or no longer is, gives the board's error and does not crash.
 */
#include <stdio.h>

#include "opkit/check/harness/memory/guarded_memory.h"
#include "opkit/check/harness/memory/libc_memory.h"

#include "hostrt.h"

static vx_reference objects;

/* ---- Maps ---- */

struct map {
    vx_map_id id;
    vx_reference owner;
};

static struct {
    struct map *maps;
    size_t count;
    vx_map_id last;
} table;

vx_map_id hostrt_add_map(vx_reference owner)
{
    struct map *maps = __libc_realloc(table.maps, (table.count + 1) * sizeof *maps);
    if (maps == NULL) {
        return 0;
    }
    table.maps = maps;
    maps[table.count++] = (struct map){++table.last, owner};
    return table.last;
}

bool hostrt_remove_map(vx_reference owner, vx_map_id id)
{
    for (size_t i = 0; i < table.count; i++) {
        if (table.maps[i].id == id && table.maps[i].owner == owner) {
            table.maps[i] = table.maps[--table.count];
            return true;
        }
    }
    return false;
}

static void remove_maps(vx_reference owner)
{
    for (size_t i = table.count; i-- > 0;) {
        if (table.maps[i].owner == owner) {
            table.maps[i] = table.maps[--table.count];
        }
    }
}

void hostrt_compare_maps(vx_context context)
{
    for (size_t i = table.count; i-- > 0;) {
        if (table.maps[i].owner->context == context) {
            char text[160];
            hostrt_describe(table.maps[i].owner, text, sizeof text);
            hostrt_log_printf(HOSTRT_LEAK, "%s was mapped and not unmapped", text);
            table.maps[i] = table.maps[--table.count];
        }
    }
}

/* ---- Life and death ---- */

void *hostrt_new(vx_context context, vx_enum type, size_t size, void (*destroy)(vx_reference))
{
    vx_reference object = __libc_calloc(1, size);
    if (object == NULL) {
        return NULL;
    }
    object->type = type;
    object->context = context;
    object->external_count = 1;
    object->destroy = destroy;
    object->next = objects;
    objects = object;
    return object;
}

vx_reference hostrt_new_error(vx_context context, vx_status status)
{
    vx_reference object = hostrt_new(context, VX_TYPE_ERROR, sizeof *object, NULL);
    if (object != NULL) {
        object->status = status;
        object->external_count = 0; /* belongs to the context */
        object->internal_count = 1;
    }
    return object;
}

static bool is_alive(const void *reference)
{
    for (vx_reference object = objects; object != NULL; object = object->next) {
        if (object == reference) {
            return true;
        }
    }
    return false;
}

bool hostrt_is(const void *reference, vx_enum type)
{
    return reference != NULL && is_alive(reference) &&
           (type == VX_TYPE_REFERENCE || ((const struct vx_reference_s *)reference)->type == type);
}

/*
 * A node's destruction calls the operator, for which the node is still there: it leaves the list
 * last.
 */
static void destroy(vx_reference object)
{
    if (object->destroy != NULL) {
        object->destroy(object);
    }
    remove_maps(object);
    vx_reference *link = &objects;
    while (*link != object) {
        link = &(*link)->next;
    }
    *link = object->next;
    __libc_free(object);
}

void hostrt_retain(void *reference)
{
    ((vx_reference)reference)->internal_count++;
}

void hostrt_release(void *reference)
{
    vx_reference object = reference;
    if (--object->internal_count == 0 && object->external_count == 0) {
        destroy(object);
    }
}

vx_status hostrt_release_handle(vx_reference *reference, vx_enum type)
{
    if (reference == NULL || !hostrt_is(*reference, type)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    vx_reference object = *reference;
    if (object->external_count == 0) {
        if (object->type != VX_TYPE_ERROR) {
            char text[160];
            hostrt_describe(object, text, sizeof text);
            hostrt_log_printf(HOSTRT_EVENT, "%s is released, but only the runtime holds it", text);
            return VX_ERROR_INVALID_REFERENCE;
        }
    } else if (--object->external_count == 0 && object->internal_count == 0) {
        destroy(object);
    }
    *reference = NULL;
    return VX_SUCCESS;
}

void hostrt_describe(const struct vx_reference_s *reference, char *text, size_t size)
{
    const char *type = hostrt_type_name(reference->type);
    if (reference->name[0] != '\0') {
        snprintf(text, size, "'%s'", reference->name);
    } else {
        snprintf(text, size, "an object of type VX_TYPE_%s", type);
    }
}

static void describe_data(const void *owner, char *text, size_t size)
{
    char name[160];
    hostrt_describe(owner, name, sizeof name);
    snprintf(text, size, "the data of %s", name);
}

void *hostrt_new_data(vx_reference owner, size_t size)
{
    return guarded_block_new(describe_data, owner, size);
}

vx_status hostrt_set_name(vx_reference reference, const char *name)
{
    if (!hostrt_is(reference, VX_TYPE_REFERENCE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    snprintf(reference->name, sizeof reference->name, "%s", name);
    return VX_SUCCESS;
}

/* ---- Attributes ---- */

const struct hostrt_attribute *hostrt_find_attribute(const struct hostrt_attribute *table,
                                                     size_t count, vx_enum attribute)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].attribute == attribute) {
            return &table[i];
        }
    }
    return NULL;
}

bool hostrt_fits(const char *function, const struct hostrt_attribute *attribute, const void *value,
                 vx_size size)
{
    const bool is_word = size >= sizeof(vx_uint32);
    if (size != attribute->size) {
        hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, function,
                      "attribute 0x%X has %zu bytes, not %zu", (unsigned)attribute->attribute,
                      attribute->size, size);
        return false;
    }
    if (is_word && ((uintptr_t)value & 3) != 0) {
        hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, function, "value is not aligned to 4 bytes");
        return false;
    }
    if (value == NULL && is_word) {
        hostrt_log_crash(function, "value is NULL");
    }
    return value != NULL;
}

vx_status hostrt_query(const char *function, const struct hostrt_attribute *table, size_t count,
                       const void *object, vx_enum attribute, void *value, vx_size size,
                       vx_status unknown)
{
    const struct hostrt_attribute *found = hostrt_find_attribute(table, count, attribute);
    if (found == NULL) {
        return hostrt_refuse(unknown, function, "attribute 0x%X is unknown", (unsigned)attribute);
    }
    if (found->access == HOSTRT_WRITE || !hostrt_fits(function, found, value, size)) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    memcpy(value, (const vx_uint8 *)object + found->offset, size);
    return VX_SUCCESS;
}

vx_status hostrt_set(const char *function, const struct hostrt_attribute *table, size_t count,
                     void *object, vx_enum attribute, const void *value, vx_size size)
{
    const struct hostrt_attribute *found = hostrt_find_attribute(table, count, attribute);
    if (found == NULL || found->access != HOSTRT_READ_WRITE) {
        return hostrt_refuse(VX_ERROR_NOT_SUPPORTED, function, "attribute 0x%X cannot be set",
                             (unsigned)attribute);
    }
    if (!hostrt_fits(function, found, value, size)) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    memcpy((vx_uint8 *)object + found->offset, value, size);
    return VX_SUCCESS;
}

vx_status vxQueryReference(vx_reference reference, vx_enum attribute, void *value, vx_size size)
{
    static const struct hostrt_attribute ATTRIBUTES[] = {
        {VX_REFERENCE_COUNT, offsetof(struct vx_reference_s, external_count), sizeof(vx_uint32),
         HOSTRT_READ},
        {VX_REFERENCE_TYPE, offsetof(struct vx_reference_s, type), sizeof(vx_enum), HOSTRT_READ},
    };
    if (!hostrt_is(reference, VX_TYPE_REFERENCE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (attribute == VX_REFERENCE_NAME) { /* a pointer to the name, not the name */
        const vx_char *name = reference->name;
        const struct hostrt_attribute pointer = {.attribute = attribute, .size = sizeof name};
        if (!hostrt_fits(__func__, &pointer, value, size)) {
            return VX_ERROR_INVALID_PARAMETERS;
        }
        memcpy(value, &name, sizeof name);
        return VX_SUCCESS;
    }
    return hostrt_query(__func__, ATTRIBUTES, dimof(ATTRIBUTES), reference, attribute, value, size,
                        VX_ERROR_NOT_SUPPORTED);
}

vx_status vxGetStatus(vx_reference reference)
{
    if (reference == NULL) {
        return VX_ERROR_NO_RESOURCES;
    }
    if (!hostrt_is(reference, VX_TYPE_REFERENCE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    return reference->status;
}

vx_context vxGetContext(vx_reference reference)
{
    return hostrt_is(reference, VX_TYPE_REFERENCE) ? reference->context : NULL;
}

vx_status vxReleaseReference(vx_reference *reference)
{
    return hostrt_release_handle(reference, VX_TYPE_REFERENCE);
}

/* ---- Contexts ---- */

vx_context vxCreateContext(void)
{
    vx_context context = hostrt_new(NULL, VX_TYPE_CONTEXT, sizeof *context, NULL);
    if (context != NULL) {
        context->base.context = context;
    }
    return context;
}

static vx_reference find_in(vx_context context, vx_enum type)
{
    for (vx_reference object = objects; object != NULL; object = object->next) {
        if (object->context == context && (vx_reference)context != object &&
            (type == VX_TYPE_REFERENCE || object->type == type)) {
            return object;
        }
    }
    return NULL;
}

vx_kernel hostrt_find_kernel(vx_context context, const vx_char *name)
{
    for (vx_reference object = objects; object != NULL; object = object->next) {
        if (object->type == VX_TYPE_KERNEL && object->context == context &&
            strcmp(((vx_kernel)object)->kernel_name, name) == 0) {
            object->external_count++;
            return (vx_kernel)object;
        }
    }
    return NULL;
}

/*
 * Destroys the objects left in the context, too: graphs first, because their nodes refer to all
 * others.
 */
vx_status vxReleaseContext(vx_context *context)
{
    if (context == NULL || !hostrt_is(*context, VX_TYPE_CONTEXT)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    static const vx_enum ORDER[] = {VX_TYPE_GRAPH, VX_TYPE_NODE, VX_TYPE_REFERENCE};
    for (size_t i = 0; i < dimof(ORDER); i++) {
        vx_reference object;
        while ((object = find_in(*context, ORDER[i])) != NULL) {
            destroy(object);
        }
    }
    destroy((vx_reference)*context);
    *context = NULL;
    return VX_SUCCESS;
}

/* ---- Leaks of a session ---- */

/*
 * The session retains objects until it has compared them; but graph and node are destroyed in it.
 */
static bool is_retained(vx_reference object)
{
    return object->type != VX_TYPE_GRAPH && object->type != VX_TYPE_NODE;
}

void hostrt_snapshot_references(vx_context context)
{
    for (vx_reference object = objects; object != NULL; object = object->next) {
        if (object->context != context) {
            continue;
        }
        object->in_snapshot = true;
        object->snapshot_count = object->external_count;
        if (is_retained(object)) {
            hostrt_retain(object);
        }
    }
}

static vx_reference find_in_snapshot(vx_context context)
{
    vx_reference object = objects;
    while (object != NULL && !(object->in_snapshot && object->context == context)) {
        object = object->next;
    }
    return object;
}

void hostrt_compare_references(vx_context context)
{
    for (vx_reference object = objects; object != NULL; object = object->next) {
        char text[160];
        if (object->context != context) {
            continue;
        }
        hostrt_describe(object, text, sizeof text);
        if (!object->in_snapshot) {
            if (object->external_count > 0) {
                hostrt_log_printf(HOSTRT_LEAK, "%s was made and not released", text);
            }
            continue;
        }
        if (object->external_count != object->snapshot_count) {
            hostrt_log_printf(HOSTRT_LEAK,
                              "%s had %u references before the call and has %u after it", text,
                              (unsigned)object->snapshot_count, (unsigned)object->external_count);
        }
        object->external_count = object->snapshot_count;
    }
    for (vx_reference object; (object = find_in_snapshot(context)) != NULL;) {
        object->in_snapshot = false;
        if (is_retained(object)) {
            hostrt_release(object);
        }
    }
}
