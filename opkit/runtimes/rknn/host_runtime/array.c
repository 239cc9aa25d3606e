/* Arrays: items of one type, as many as there is room for. */
#include "opkit/check/harness/memory/guarded_memory.h"

#include "hostrt.h"

static void destroy_array(vx_reference reference)
{
    guarded_block_delete(((vx_array)reference)->items);
}

vx_array vxCreateArray(vx_context context, vx_enum item_type, vx_size capacity)
{
    if (!hostrt_is(context, VX_TYPE_CONTEXT)) {
        return NULL;
    }
    const vx_size item_size = hostrt_item_size(item_type);
    if (capacity == 0 || item_size == 0) {
        return (vx_array)hostrt_new_error(context, VX_ERROR_INVALID_PARAMETERS);
    }
    vx_array array = hostrt_new(context, VX_TYPE_ARRAY, sizeof *array, destroy_array);
    if (array == NULL) {
        return NULL;
    }
    array->item_type = item_type;
    array->item_size = item_size;
    array->capacity = capacity;
    if (capacity <= SIZE_MAX / item_size) {
        array->items = hostrt_new_data((vx_reference)array, capacity * item_size);
    }
    if (array->items == NULL) {
        vx_reference reference = (vx_reference)array;
        hostrt_release_handle(&reference, VX_TYPE_ARRAY);
        return (vx_array)hostrt_new_error(context, VX_ERROR_NO_MEMORY);
    }
    return array;
}

vx_status vxReleaseArray(vx_array *array)
{
    return hostrt_release_handle((vx_reference *)array, VX_TYPE_ARRAY);
}

static const struct hostrt_attribute ATTRIBUTES[] = {
    {VX_ARRAY_ITEMTYPE, offsetof(struct vx_array_s, item_type), sizeof(vx_enum), HOSTRT_READ_WRITE},
    {VX_ARRAY_NUMITEMS, offsetof(struct vx_array_s, count), sizeof(vx_size), HOSTRT_READ_WRITE},
    {VX_ARRAY_CAPACITY, offsetof(struct vx_array_s, capacity), sizeof(vx_size), HOSTRT_READ_WRITE},
    {VX_ARRAY_ITEMSIZE, offsetof(struct vx_array_s, item_size), sizeof(vx_size), HOSTRT_READ_WRITE},
};

vx_status vxQueryArray(vx_array array, vx_enum attribute, void *value, vx_size size)
{
    if (!hostrt_is(array, VX_TYPE_ARRAY)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the array is not valid");
    }
    return hostrt_query(__func__, ATTRIBUTES, dimof(ATTRIBUTES), array, attribute, value, size,
                        VX_ERROR_NOT_SUPPORTED);
}

/* Sets any attribute, but leaves the memory as it is. */
vx_status vxSetArrayAttribute(vx_array array, vx_enum attribute, void *value, vx_size size)
{
    if (!hostrt_is(array, VX_TYPE_ARRAY)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the array is not valid");
    }
    const vx_status status =
        hostrt_set(__func__, ATTRIBUTES, dimof(ATTRIBUTES), array, attribute, value, size);
    if (status == VX_SUCCESS &&
        (attribute != VX_ARRAY_NUMITEMS || array->count > array->capacity)) {
        hostrt_log_printf(
            HOSTRT_EVENT,
            "vxSetArrayAttribute sets the attribute 0x%X, but the array's memory stays "
            "as it was; set VX_ARRAY_NUMITEMS to at most the capacity, nothing else",
            (unsigned)attribute);
    }
    return status;
}

static void copy_items(vx_uint8 *to, vx_size to_stride, const vx_uint8 *from, vx_size from_stride,
                       vx_size count, vx_size size)
{
    hostrt_function = "the copying of array items";
    for (vx_size i = 0; i < count; i++) {
        memcpy(to + i * to_stride, from + i * from_stride, size);
    }
    hostrt_function = NULL;
}

vx_status vxAddArrayItems(vx_array array, vx_size count, const void *items, vx_size stride)
{
    if (!hostrt_is(array, VX_TYPE_ARRAY)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the array is not valid");
    }
    if (count == 0 || items == NULL || (stride != 0 && stride < array->item_size)) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    if (array->count > array->capacity || count > array->capacity - array->count) {
        return hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, __func__,
                             "%zu items more than the array's %zu exceed its capacity, %zu", count,
                             array->count, array->capacity);
    }
    copy_items(array->items + array->count * array->item_size, array->item_size, items,
               stride != 0 ? stride : array->item_size, count, array->item_size);
    array->count += count;
    return VX_SUCCESS;
}

vx_status vxTruncateArray(vx_array array, vx_size count)
{
    if (!hostrt_is(array, VX_TYPE_ARRAY)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the array is not valid");
    }
    if (count > array->count) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    array->count = count;
    return VX_SUCCESS;
}

vx_status vxCopyArrayRange(vx_array array, vx_size start, vx_size end, vx_size stride,
                           void *user_memory, vx_enum usage, vx_enum user_memory_type)
{
    if (!hostrt_is(array, VX_TYPE_ARRAY)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the array is not valid");
    }
    if (user_memory == NULL || (usage != VX_READ_ONLY && usage != VX_WRITE_ONLY) ||
        stride < array->item_size || start >= end || end > array->count) {
        return hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, __func__,
                             "items %zu to %zu of %zu, in steps of %zu bytes, usage 0x%X", start,
                             end, array->count, stride, (unsigned)usage);
    }
    if (user_memory_type != 0 && user_memory_type != VX_MEMORY_TYPE_NONE &&
        user_memory_type != VX_MEMORY_TYPE_HOST) {
        hostrt_log_printf(
            HOSTRT_EVENT,
            "vxCopyArrayRange gets the unknown memory type 0x%X; pass VX_MEMORY_TYPE_HOST",
            (unsigned)user_memory_type);
    }
    vx_uint8 *items = array->items + start * array->item_size;
    if (usage == VX_READ_ONLY) {
        copy_items(user_memory, stride, items, array->item_size, end - start, array->item_size);
    } else {
        copy_items(items, array->item_size, user_memory, stride, end - start, array->item_size);
    }
    return VX_SUCCESS;
}

vx_status vxMapArrayRange(vx_array array, vx_size start, vx_size end, vx_map_id *map_id,
                          vx_size *stride, void **memory, vx_enum usage, vx_enum memory_type,
                          vx_uint32 flags)
{
    (void)memory_type;
    (void)flags;
    if (!hostrt_is(array, VX_TYPE_ARRAY)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the array is not valid");
    }
    if (stride == NULL || memory == NULL ||
        (usage != VX_READ_ONLY && usage != VX_WRITE_ONLY && usage != VX_READ_AND_WRITE) ||
        start >= end || end > array->count) {
        return hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, __func__,
                             "items %zu to %zu of %zu, usage 0x%X", start, end, array->count,
                             (unsigned)usage);
    }
    if (map_id == NULL) {
        hostrt_log_crash(__func__, "map_id is NULL");
        return VX_ERROR_INVALID_PARAMETERS;
    }
    *map_id = hostrt_add_map((vx_reference)array);
    *stride = array->item_size;
    *memory = array->items + start * array->item_size;
    return *map_id != 0 ? VX_SUCCESS : VX_ERROR_NO_MEMORY;
}

vx_status vxUnmapArrayRange(vx_array array, vx_map_id map_id)
{
    if (!hostrt_is(array, VX_TYPE_ARRAY)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the array is not valid");
    }
    return hostrt_remove_map((vx_reference)array, map_id) ? VX_SUCCESS
                                                          : VX_ERROR_INVALID_PARAMETERS;
}
