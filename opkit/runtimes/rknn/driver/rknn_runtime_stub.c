/* A stub of librknn_runtime.so, only for linking the program of model.c. */
#define EXPORT(name)                                       \
    __attribute__((visibility("default"))) void name(void) \
    {                                                      \
    }

EXPORT(rknn_destroy)
EXPORT(rknn_init)
EXPORT(rknn_inputs_set)
EXPORT(rknn_outputs_get)
EXPORT(rknn_outputs_release)
EXPORT(rknn_run)
