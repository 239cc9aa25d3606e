/*
 * A stub of the boards' librknnrt.so, to link plugins against and for nothing else: it defines what
 * include/rknn_custom_op.h declares, and neither function does anything. On the board the real
 * library takes its place; on the PC the host runtime does.
 *
 * The linker needs names only, so the definitions do without the header.
 */
#define EXPORT(name)                                       \
    __attribute__((visibility("default"))) void name(void) \
    {                                                      \
    }

EXPORT(rknn_custom_op_get_op_attr)
EXPORT(rknn_register_custom_ops)
