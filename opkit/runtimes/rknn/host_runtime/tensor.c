/* Tensors. Dimension 0 is the fastest; dimensions are 32-bit numbers, as on the board. */
#include <stdio.h>

#include "opkit/check/harness/memory/guarded_memory.h"

#include "hostrt.h"

/* ---- Making ---- */

static vx_uint8 *storage(vx_tensor tensor)
{
    if (tensor->parent != NULL) {
        vx_uint8 *data = storage(tensor->parent);
        return data ? data + tensor->offset : NULL;
    }
    return tensor->data;
}

/* A dimension of 0 makes a tensor that no function but vxReleaseTensor takes. */
static bool is_tensor(vx_tensor tensor)
{
    if (!hostrt_is(tensor, VX_TYPE_TENSOR)) {
        return false;
    }
    for (vx_uint32 i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] == 0) {
            return false;
        }
    }
    return true;
}

static vx_size bytes(vx_tensor tensor)
{
    vx_size size = hostrt_element_size(tensor->data_type);
    for (vx_uint32 i = 0; i < tensor->rank; i++) {
        size *= tensor->dims[i];
    }
    return size;
}

static vx_tensor root_of(vx_tensor tensor)
{
    while (tensor->parent != NULL) {
        tensor = tensor->parent;
    }
    return tensor;
}

bool hostrt_tensors_overlap(vx_tensor a, vx_tensor b)
{
    const vx_tensor root = root_of(a);
    vx_size offset_a = 0, offset_b = 0;

    if (root != root_of(b) || bytes(a) == 0 || bytes(b) == 0) {
        return false;
    }
    for (vx_tensor view = a; view->parent != NULL; view = view->parent) {
        offset_a += view->offset;
    }
    for (vx_tensor view = b; view->parent != NULL; view = view->parent) {
        offset_b += view->offset;
    }
    for (vx_uint32 i = root->rank; i-- > 0;) {
        const vx_size first_a = offset_a / root->strides[i], first_b = offset_b / root->strides[i];
        if (first_a + a->dims[i] <= first_b || first_b + b->dims[i] <= first_a) {
            return false;
        }
        offset_a %= root->strides[i];
        offset_b %= root->strides[i];
    }
    return true;
}

static vx_uint8 *allocated_storage(vx_tensor tensor)
{
    const vx_tensor root = root_of(tensor);
    if (root->data == NULL) {
        root->data = hostrt_new_data((vx_reference)root, bytes(root));
    }
    return storage(tensor);
}

static void destroy_tensor(vx_reference reference)
{
    vx_tensor tensor = (vx_tensor)reference;
    if (tensor->parent != NULL) {
        hostrt_release(tensor->parent);
    } else {
        guarded_block_delete(tensor->data);
    }
}

/*
 * The driver keeps the scale in the same bytes as the position, and has neither for FLOAT16. (The
 * tensors of a model get their scale from elsewhere.)
 */
static void set_quantization(vx_tensor tensor, vx_int8 fixed_point_position)
{
    tensor->scale = 1;
    if (tensor->data_type == VX_TYPE_FLOAT16) {
        tensor->quant_format = VX_QUANT_NONE;
        return;
    }
    tensor->quant_format = VX_QUANT_DYNAMIC_FIXED_POINT;
    tensor->fixed_point_position = fixed_point_position;
    memcpy(&tensor->scale, &fixed_point_position, sizeof fixed_point_position);
}

/* Invalid arguments give NULL, not an error object. */
vx_tensor vxCreateTensor(vx_context context, vx_size number_of_dims, const vx_size *dims,
                         vx_enum data_type, vx_int8 fixed_point_position)
{
    if (!hostrt_is(context, VX_TYPE_CONTEXT)) {
        return NULL;
    }
    if (number_of_dims == 0 || number_of_dims > HOSTRT_MAX_RANK ||
        hostrt_element_size(data_type) == 0) {
        return NULL;
    }
    if (dims == NULL) {
        hostrt_log_crash(__func__, "dims is NULL");
        return NULL;
    }
    for (vx_size i = 0; i < number_of_dims; i++) {
        if (dims[i] > UINT32_MAX) {
            return NULL;
        }
    }
    vx_tensor tensor = hostrt_new(context, VX_TYPE_TENSOR, sizeof *tensor, destroy_tensor);
    if (tensor == NULL) {
        return NULL;
    }
    tensor->rank = (vx_uint32)number_of_dims;
    tensor->data_type = data_type;
    set_quantization(tensor, fixed_point_position);
    tensor->precision = hostrt_element_size(data_type) >= sizeof(vx_uint32);
    tensor->lifetime = 1;
    vx_size stride = hostrt_element_size(data_type);
    for (vx_size i = 0; i < number_of_dims; i++) {
        tensor->dims[i] = (vx_uint32)dims[i];
        tensor->strides[i] = stride;
        stride *= dims[i];
    }
    return tensor;
}

/* The driver makes an empty dimension one of 1 element. */
static vx_uint32 extent_of_view(vx_size dimension, vx_size start, vx_size end)
{
    if (start == end) {
        hostrt_log_printf(HOSTRT_EVENT,
                          "vxCreateTensorFromView makes dimension %u, of which the view has no "
                          "element, one of 1 element; pass view_end > view_start",
                          (unsigned)dimension);
        return 1;
    }
    return (vx_uint32)(end - start);
}

vx_tensor vxCreateTensorFromView(vx_tensor tensor, vx_size number_of_dims,
                                 const vx_size *view_start, const vx_size *view_end)
{
    if (tensor == NULL || view_start == NULL || view_end == NULL) {
        hostrt_log_crash(__func__, "the tensor, view_start or view_end is NULL");
        return NULL;
    }
    if (!is_tensor(tensor) || number_of_dims != tensor->rank) {
        return NULL;
    }
    for (vx_size i = 0; i < number_of_dims; i++) {
        if (view_end[i] < view_start[i] || view_end[i] > tensor->dims[i]) {
            return NULL;
        }
    }
    vx_tensor view = hostrt_new(tensor->base.context, VX_TYPE_TENSOR, sizeof *view, destroy_tensor);
    if (view == NULL) {
        return NULL;
    }
    const struct vx_reference_s base = view->base;
    *view = *tensor;
    view->base = base;
    view->data = NULL;
    view->parent = tensor;
    view->offset = 0;
    for (vx_size i = 0; i < number_of_dims; i++) {
        view->dims[i] = extent_of_view(i, view_start[i], view_end[i]);
        view->offset += view_start[i] * tensor->strides[i];
    }
    hostrt_retain(tensor);
    return view;
}

vx_status vxReleaseTensor(vx_tensor *tensor)
{
    return hostrt_release_handle((vx_reference *)tensor, VX_TYPE_TENSOR);
}

/* ---- Attributes ---- */

static const struct hostrt_attribute ATTRIBUTES[] = {
    {VX_TENSOR_NUMBER_OF_DIMS, offsetof(struct vx_tensor_s, rank), sizeof(vx_uint32), HOSTRT_READ},
    {VX_TENSOR_DATA_TYPE, offsetof(struct vx_tensor_s, data_type), sizeof(vx_enum), HOSTRT_READ},
    {VX_TENSOR_FIXED_POINT_POSITION, offsetof(struct vx_tensor_s, fixed_point_position),
     sizeof(vx_int8), HOSTRT_READ},
    {VX_TENSOR_QUANT_FORMAT, offsetof(struct vx_tensor_s, quant_format), sizeof(vx_enum),
     HOSTRT_READ},
    {VX_TENSOR_ZERO_POINT, offsetof(struct vx_tensor_s, zero_point), sizeof(vx_int32), HOSTRT_READ},
    {VX_TENSOR_SCALE, offsetof(struct vx_tensor_s, scale), sizeof(vx_float32), HOSTRT_READ},
    {VX_TENSOR_RANK, offsetof(struct vx_tensor_s, order), sizeof(vx_enum), HOSTRT_READ_WRITE},
    {VX_TENSOR_PRECISION, offsetof(struct vx_tensor_s, precision), sizeof(vx_enum),
     HOSTRT_READ_WRITE},
    {VX_TENSOR_LIFETIME, offsetof(struct vx_tensor_s, lifetime), sizeof(vx_enum),
     HOSTRT_READ_WRITE},
    {VX_TENSOR_VALUE, offsetof(struct vx_tensor_s, value), sizeof(vx_enum), HOSTRT_READ_WRITE},
};

static vx_status query_dims(vx_tensor tensor, void *value, vx_size size)
{
    const vx_size needed = tensor->rank * sizeof(vx_uint32);
    vx_uint32 answer[HOSTRT_MAX_RANK];

    if (size < needed || size > sizeof answer) {
        return hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, "vxQueryTensor",
                             "VX_TENSOR_DIMS of %u dimensions has %zu bytes, not %zu",
                             (unsigned)tensor->rank, needed, size);
    }
    if (value == NULL) {
        hostrt_log_crash("vxQueryTensor", "value is NULL");
        return VX_ERROR_INVALID_PARAMETERS;
    }
    if (size > needed) {
        hostrt_log_printf(
            HOSTRT_EVENT,
            "vxQueryTensor(VX_TENSOR_DIMS) asks for %u bytes of a tensor with %u "
            "dimensions; the entries after the last dimension hold anything: ask for %u "
            "bytes",
            (unsigned)size, (unsigned)tensor->rank, (unsigned)needed);
    }
    memset(answer, guarded_memory_fill(), sizeof answer);
    memcpy(answer, tensor->dims, needed);
    memcpy(value, answer, tensor->parent != NULL ? needed : size);
    return VX_SUCCESS;
}

vx_status vxQueryTensor(vx_tensor tensor, vx_enum attribute, void *value, vx_size size)
{
    if (!is_tensor(tensor)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the tensor is not valid");
    }
    if (attribute == VX_TENSOR_DIMS) {
        return query_dims(tensor, value, size);
    }
    return hostrt_query(__func__, ATTRIBUTES, dimof(ATTRIBUTES), tensor, attribute, value, size,
                        VX_ERROR_INVALID_PARAMETERS);
}

vx_status vxSetTensorAttribute(vx_tensor tensor, vx_enum attribute, const void *value, vx_size size)
{
    if (!is_tensor(tensor)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the tensor is not valid");
    }
    return hostrt_set(__func__, ATTRIBUTES, dimof(ATTRIBUTES), tensor, attribute, value, size);
}

/* ---- Conversion between half and float, as the board does it ---- */

/* The board truncates, and has neither subnormals nor infinity. */

static vx_uint16 half_of(vx_uint32 single)
{
    const vx_uint32 sign = single >> 16 & 0x8000;
    const vx_int32 exponent = (vx_int32)(single >> 23 & 0xFF) - 127 + 15;
    if (exponent >= 31) {
        return (vx_uint16)(sign | 0x7BFF);
    }
    if (exponent <= 0) {
        return (vx_uint16)sign;
    }
    return (vx_uint16)(sign | (vx_uint32)exponent << 10 | (single >> 13 & 0x3FF));
}

static vx_uint32 single_of(vx_uint16 half)
{
    const vx_uint32 sign = (vx_uint32)(half & 0x8000) << 16;
    const vx_uint32 exponent = half >> 10 & 0x1F;
    if (exponent == 0) {
        return sign;
    }
    return sign | (exponent + 127 - 15) << 23 | (vx_uint32)(half & 0x3FF) << 13;
}

static void halves_of(vx_uint8 *to, const vx_uint8 *from, vx_size count)
{
    for (vx_size i = 0; i < count; i++) {
        vx_uint32 single;
        memcpy(&single, from + i * sizeof single, sizeof single);
        const vx_uint16 half = half_of(single);
        memcpy(to + i * sizeof half, &half, sizeof half);
    }
}

static void singles_of(vx_uint8 *to, const vx_uint8 *from, vx_size count)
{
    for (vx_size i = 0; i < count; i++) {
        vx_uint16 half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        const vx_uint32 single = single_of(half);
        memcpy(to + i * sizeof single, &single, sizeof single);
    }
}

/* ---- Copying ---- */

/* Converts the `count` elements of a row. */
typedef void (*convert)(vx_uint8 *to, const vx_uint8 *from, vx_size count);

/* The user's type as the board derives it from the first stride. */
static vx_enum user_type(vx_tensor tensor, vx_size stride)
{
    if (stride == hostrt_element_size(tensor->data_type)) {
        return tensor->data_type;
    }
    return stride == 4 ? VX_TYPE_FLOAT32 : VX_TYPE_FLOAT16;
}

/*
 * Sets how the elements are converted on their way, NULL if they are not. Returns false where the
 * board does not know how: then it copies nothing.
 */
static bool find_conversion(vx_tensor tensor, vx_size stride, bool to_user, convert *converted)
{
    const vx_enum device = tensor->data_type;
    const vx_enum user = user_type(tensor, stride);

    if (device == user) {
        *converted = NULL;
    } else if (device == VX_TYPE_FLOAT16 && user == VX_TYPE_FLOAT32) {
        *converted = to_user ? singles_of : halves_of;
    } else if (device == VX_TYPE_FLOAT32 && user == VX_TYPE_FLOAT16) {
        *converted = to_user ? halves_of : singles_of;
    } else {
        hostrt_log_printf(
            HOSTRT_EVENT,
            "vxCopyTensorPatch copies nothing: user_stride[0] = %u means VX_TYPE_%s, to "
            "which a tensor of VX_TYPE_%s is not converted; pass its element size, %u",
            (unsigned)stride, hostrt_type_name(user), hostrt_type_name(device),
            (unsigned)hostrt_element_size(device));
        return false;
    }
    return true;
}

/* Whether two elements of the patch share bytes in the user's memory. */
static bool strides_overlap(vx_uint32 rank, const vx_uint32 *extents, const vx_size *strides)
{
    vx_uint32 order[HOSTRT_MAX_RANK];
    vx_uint32 count = 0;

    for (vx_uint32 i = 1; i < rank; i++) {
        if (extents[i] == 1) {
            continue;
        }
        vx_uint32 at = count++;
        for (; at > 0 && strides[order[at - 1]] > strides[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    vx_size reach = strides[0] * extents[0];
    for (vx_uint32 i = 0; i < count; i++) {
        if (strides[order[i]] < reach) {
            return true;
        }
        reach += strides[order[i]] * (extents[order[i]] - 1);
    }
    return false;
}

/* Walks over the rows of a patch. */
static void copy_rows(vx_tensor tensor, const vx_size *start, const vx_uint32 *extents,
                      const vx_size *strides, vx_uint8 *user, bool to_user, convert converted)
{
    const vx_size row = extents[0] * hostrt_element_size(tensor->data_type);
    vx_uint32 index[HOSTRT_MAX_RANK] = {0};
    vx_uint8 *data = storage(tensor);

    for (vx_uint32 i = 0; i < tensor->rank; i++) {
        data += start[i] * tensor->strides[i];
    }
    for (;;) {
        vx_uint8 *device_row = data;
        vx_uint8 *user_row = user;
        for (vx_uint32 i = 1; i < tensor->rank; i++) {
            device_row += index[i] * tensor->strides[i];
            user_row += index[i] * strides[i];
        }
        vx_uint8 *to = to_user ? user_row : device_row;
        const vx_uint8 *from = to_user ? device_row : user_row;
        if (converted != NULL) {
            converted(to, from, extents[0]);
        } else {
            memcpy(to, from, row);
        }
        vx_uint32 dimension = 1;
        while (dimension < tensor->rank && ++index[dimension] == extents[dimension]) {
            index[dimension++] = 0;
        }
        if (dimension >= tensor->rank) {
            return;
        }
    }
}

static const char PATCH[] = "vxCopyTensorPatch or vxMapTensorPatch";

/*
 * The tests that copying and mapping share, in the board's order. A tensor that was never written
 * has no memory: VX_WRITE_ONLY allocates it, any other usage returns `unwritten`.
 */
static vx_status check_patch(vx_tensor tensor, vx_size number_of_dims, const vx_size *start,
                             const vx_size *end, vx_enum usage, vx_status unwritten)
{
    if (!is_tensor(tensor)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, PATCH, "the tensor is not valid");
    }
    if (storage(tensor) == NULL) {
        if (usage != VX_WRITE_ONLY) {
            return hostrt_refuse(unwritten, PATCH, "nothing has been written to the tensor");
        }
        if (allocated_storage(tensor) == NULL) {
            return VX_ERROR_NO_MEMORY;
        }
    }
    if (number_of_dims == 0 || number_of_dims > tensor->rank) {
        return hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, PATCH,
                             "number_of_dims is %zu; the tensor has %u", number_of_dims,
                             (unsigned)tensor->rank);
    }
    for (vx_size i = 0; i < number_of_dims; i++) {
        const vx_size first = start != NULL ? start[i] : 0;
        const vx_size last = end != NULL ? end[i] : tensor->dims[i];
        if (last <= first || last > tensor->dims[i]) {
            return hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, PATCH,
                                 "the view is %zu to %zu in dimension %zu, which has %u elements",
                                 first, last, i, (unsigned)tensor->dims[i]);
        }
    }
    return VX_SUCCESS;
}

vx_status vxCopyTensorPatch(vx_tensor tensor, vx_size number_of_dims, const vx_size *view_start,
                            const vx_size *view_end, const vx_size *user_stride, void *user_memory,
                            vx_enum usage, vx_enum user_memory_type)
{
    if (view_start == NULL || view_end == NULL || user_stride == NULL || user_memory == NULL) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    const vx_status status =
        check_patch(tensor, number_of_dims, view_start, view_end, usage, VX_ERROR_NOT_ALLOCATED);
    if (status != VX_SUCCESS) {
        return status;
    }
    if (number_of_dims != tensor->rank) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    vx_uint32 extents[HOSTRT_MAX_RANK];
    vx_size strides[HOSTRT_MAX_RANK];
    for (vx_uint32 i = 0; i < tensor->rank; i++) {
        extents[i] = (vx_uint32)(view_end[i] - view_start[i]);
        strides[i] = (vx_uint32)user_stride[i];
        if (strides[i] == 0) { /* even where it is not used, for an extent of 1 */
            return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "user_stride[%u] is 0",
                                 (unsigned)i);
        }
    }
    if ((user_stride[0] != hostrt_element_size(tensor->data_type) && user_stride[0] != 4 &&
         user_stride[0] != 2) ||
        (usage != VX_READ_ONLY && usage != VX_WRITE_ONLY)) {
        return hostrt_refuse(VX_ERROR_NOT_SUPPORTED, __func__, "user_stride[0] is %zu, usage 0x%X",
                             user_stride[0], (unsigned)usage);
    }

    const bool to_user = usage == VX_READ_ONLY;
    convert converted = NULL;
    if (user_memory_type != 0 && user_memory_type != VX_MEMORY_TYPE_NONE &&
        user_memory_type != VX_MEMORY_TYPE_HOST) {
        hostrt_log_printf(
            HOSTRT_EVENT,
            "vxCopyTensorPatch gets the unknown memory type 0x%X; pass VX_MEMORY_TYPE_HOST",
            (unsigned)user_memory_type);
    }
    if (to_user && strides_overlap(tensor->rank, extents, strides)) {
        hostrt_log_printf(HOSTRT_EVENT,
                          "vxCopyTensorPatch gets strides by which elements overwrite each other; "
                          "stride[k] = stride[k - 1] * dims[k - 1]");
    }
    if (find_conversion(tensor, user_stride[0], to_user, &converted)) {
        hostrt_function = "vxCopyTensorPatch";
        copy_rows(tensor, view_start, extents, strides, user_memory, to_user, converted);
        hostrt_function = NULL;
    }
    return VX_SUCCESS;
}

/* ---- Mapping ---- */

/* Logs calls that the driver accepts, but with other mapped memory than the caller expects. */
static void check_map(vx_tensor tensor, vx_size number_of_dims, const vx_size *strides,
                      vx_enum usage)
{
    bool is_misplaced = tensor->offset != 0;
    for (vx_size i = 0; i < number_of_dims; i++) {
        is_misplaced = is_misplaced || (tensor->dims[i] > 1 && strides[i] != tensor->strides[i]);
    }
    if (is_misplaced) {
        hostrt_log_printf(HOSTRT_EVENT,
                          "vxMapTensorPatch of a view maps its parent's first elements, without "
                          "gaps; copy the view's with vxCopyTensorPatch");
    }
    if (number_of_dims < tensor->rank) {
        hostrt_log_printf(HOSTRT_EVENT,
                          "vxMapTensorPatch gets %u dimensions of a tensor with %u, and maps any "
                          "address; pass all dimensions",
                          (unsigned)number_of_dims, (unsigned)tensor->rank);
    }
    if (usage != VX_READ_ONLY && usage != VX_WRITE_ONLY && usage != VX_READ_AND_WRITE) {
        hostrt_log_printf(HOSTRT_EVENT,
                          "vxMapTensorPatch gets the unknown usage 0x%X; see enum vx_accessor_e",
                          (unsigned)usage);
    }
}

/*
 * Unlike a copy it takes fewer dimensions than the tensor has, and NULL for the whole tensor. Of a
 * view it returns the parent's elements, as on the board.
 */
vx_status vxMapTensorPatch(vx_tensor tensor, vx_size number_of_dims, const vx_size *view_start,
                           const vx_size *view_end, vx_map_id *map_id, vx_size *stride,
                           void **memory, vx_enum usage, vx_enum memory_type)
{
    (void)memory_type;
    if (map_id == NULL || stride == NULL || memory == NULL) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    const vx_status status =
        check_patch(tensor, number_of_dims, view_start, view_end, usage, VX_ERROR_NO_MEMORY);
    if (status != VX_SUCCESS) {
        return status;
    }
    vx_uint8 *start = storage(root_of(tensor));
    vx_size dense = hostrt_element_size(tensor->data_type);
    for (vx_size i = 0; i < number_of_dims; i++) {
        start += (view_start != NULL ? view_start[i] : 0) * dense;
        stride[i] = dense;
        dense *= tensor->dims[i];
    }
    check_map(tensor, number_of_dims, stride, usage);
    *map_id = hostrt_add_map((vx_reference)tensor);
    *memory = start;
    return *map_id != 0 ? VX_SUCCESS : VX_ERROR_NO_MEMORY;
}

vx_status vxUnmapTensorPatch(vx_tensor tensor, const vx_map_id map_id)
{
    if (!is_tensor(tensor)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the tensor is not valid");
    }
    return hostrt_remove_map((vx_reference)tensor, map_id) ? VX_SUCCESS
                                                           : VX_ERROR_INVALID_PARAMETERS;
}

/* ---- The elements of tensors that the kernel opens ---- */

static void describe_elements(const void *name, char *text, size_t size)
{
    snprintf(text, size, "the elements of '%s'", (const char *)name);
}

void *hostrt_tensor_memory(const char *name, size_t size, void *unguarded)
{
    return guarded_memory_is_guarding() ? guarded_block_new_for_stage(describe_elements, name, size)
                                        : unguarded;
}

void hostrt_protect_tensor(void *elements)
{
    guarded_block_protect(elements);
}
