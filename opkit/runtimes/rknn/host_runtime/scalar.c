/* Scalars: 40 zeroed bytes, of which a type uses as many as it has. */
#include "hostrt.h"

static vx_scalar new_scalar(const char *function, vx_context context, vx_enum data_type,
                            const void *value)
{
    if (!hostrt_is(context, VX_TYPE_CONTEXT)) {
        hostrt_log_crash(function, "the context is not valid");
        return NULL;
    }
    if (data_type <= VX_TYPE_INVALID || data_type >= VX_TYPE_KHRONOS_OBJECT_START) {
        return (vx_scalar)hostrt_new_error(context, VX_ERROR_INVALID_TYPE);
    }
    vx_scalar scalar = hostrt_new(context, VX_TYPE_SCALAR, sizeof *scalar, NULL);
    if (scalar != NULL) {
        scalar->data_type = data_type;
        if (value != NULL) {
            memcpy(scalar->value, value, hostrt_scalar_size(data_type));
        }
    }
    return scalar;
}

vx_scalar vxCreateScalar(vx_context context, vx_enum data_type, const void *value)
{
    return new_scalar(__func__, context, data_type, value);
}

/* `size` matters to user-defined structs only, and those the host runtime does not have. */
vx_scalar vxCreateScalarWithSize(vx_context context, vx_enum data_type, const void *value,
                                 vx_size size)
{
    (void)size;
    return new_scalar(__func__, context, data_type, value);
}

vx_status vxReleaseScalar(vx_scalar *scalar)
{
    return hostrt_release_handle((vx_reference *)scalar, VX_TYPE_SCALAR);
}

vx_status vxQueryScalar(vx_scalar scalar, vx_enum attribute, void *value, vx_size size)
{
    static const struct hostrt_attribute ATTRIBUTES[] = {
        {VX_SCALAR_TYPE, offsetof(struct vx_scalar_s, data_type), sizeof(vx_enum), HOSTRT_READ},
    };
    if (!hostrt_is(scalar, VX_TYPE_SCALAR)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, __func__, "the scalar is not valid");
    }
    return hostrt_query(__func__, ATTRIBUTES, dimof(ATTRIBUTES), scalar, attribute, value, size,
                        VX_ERROR_NOT_SUPPORTED);
}

/* Returns whether a scalar's value can be copied to or from `value`. */
static vx_status check_copy(vx_scalar scalar, const void *value)
{
    if (value == NULL) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    if (!hostrt_is(scalar, VX_TYPE_SCALAR)) {
        return hostrt_refuse(VX_ERROR_INVALID_REFERENCE, "vxCopyScalar", "the scalar is not valid");
    }
    return hostrt_scalar_size(scalar->data_type) == 0 ? VX_ERROR_NOT_SUPPORTED : VX_SUCCESS;
}

vx_status vxReadScalarValue(vx_scalar scalar, void *value)
{
    const vx_status status = check_copy(scalar, value);
    if (status == VX_SUCCESS) {
        hostrt_function = "the reading of a scalar";
        memcpy(value, scalar->value, hostrt_scalar_size(scalar->data_type));
        hostrt_function = NULL;
    }
    return status;
}

vx_status vxWriteScalarValue(vx_scalar scalar, const void *value)
{
    const vx_status status = check_copy(scalar, value);
    if (status == VX_SUCCESS) {
        hostrt_function = "the writing of a scalar";
        memcpy(scalar->value, value, hostrt_scalar_size(scalar->data_type));
        hostrt_function = NULL;
    }
    return status;
}

vx_status vxCopyScalar(vx_scalar scalar, void *user_memory, vx_enum usage, vx_enum user_memory_type)
{
    if (user_memory == NULL || user_memory_type != VX_MEMORY_TYPE_HOST ||
        (usage != VX_READ_ONLY && usage != VX_WRITE_ONLY)) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    return usage == VX_READ_ONLY ? vxReadScalarValue(scalar, user_memory)
                                 : vxWriteScalarValue(scalar, user_memory);
}

vx_status vxCopyScalarWithSize(vx_scalar scalar, vx_size size, void *user_memory, vx_enum usage,
                               vx_enum user_memory_type)
{
    (void)size;
    return vxCopyScalar(scalar, user_memory, usage, user_memory_type);
}
