/*
 * A stub of the boards' librknnrt.so, only for linking plugins: it defines the functions of
 * include/rknn_custom_op.h with empty bodies. The real library replaces it on the board, the host
 * runtime on the PC.
 *
 * The linker needs only the names, so the definitions do not include the header.
 */
#define EXPORT(name)                                       \
    __attribute__((visibility("default"))) void name(void) \
    {                                                      \
    }

EXPORT(rknn_custom_op_get_op_attr)
EXPORT(rknn_register_custom_ops)
