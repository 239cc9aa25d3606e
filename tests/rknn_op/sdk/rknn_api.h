/*
 * The declarations of the vendor's rknn_api.h that an application needs, for tests. Values and
 * layouts are the same as in the SDK, 1.6.0 and later.
 */
#ifndef RKNN_API_H
#define RKNN_API_H

#include <rknn_custom_op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKNN_FLAG_COLLECT_PERF_MASK 0x00000008

#define RKNN_SUCC 0
#define RKNN_ERR_FAIL (-1)
#define RKNN_ERR_TIMEOUT (-2)
#define RKNN_ERR_DEVICE_UNAVAILABLE (-3)
#define RKNN_ERR_MALLOC_FAIL (-4)
#define RKNN_ERR_PARAM_INVALID (-5)
#define RKNN_ERR_MODEL_INVALID (-6)
#define RKNN_ERR_CTX_INVALID (-7)
#define RKNN_ERR_INPUT_INVALID (-8)
#define RKNN_ERR_OUTPUT_INVALID (-9)
#define RKNN_ERR_DEVICE_UNMATCH (-10)
#define RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL (-11)
#define RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION (-12)
#define RKNN_ERR_TARGET_PLATFORM_UNMATCH (-13)

typedef enum {
    RKNN_QUERY_IN_OUT_NUM = 0,
    RKNN_QUERY_INPUT_ATTR = 1,
    RKNN_QUERY_OUTPUT_ATTR = 2,
    RKNN_QUERY_PERF_DETAIL = 3,
    RKNN_QUERY_PERF_RUN = 4,
    RKNN_QUERY_SDK_VERSION = 5
} rknn_query_cmd;

typedef struct {
    uint32_t n_input;
    uint32_t n_output;
} rknn_input_output_num;

typedef struct {
    char *perf_data;
    uint64_t data_len;
} rknn_perf_detail;

typedef struct {
    int64_t run_duration; /* microseconds */
} rknn_perf_run;

typedef struct {
    char api_version[256];
    char drv_version[256];
} rknn_sdk_version;

typedef struct {
    uint32_t index;
    void *buf;
    uint32_t size;
    uint8_t pass_through;
    rknn_tensor_type type;
    rknn_tensor_format fmt;
} rknn_input;

typedef struct {
    uint8_t want_float;
    uint8_t is_prealloc;
    uint32_t index;
    void *buf;
    uint32_t size;
} rknn_output;

typedef struct rknn_init_extend rknn_init_extend;
typedef struct rknn_run_extend rknn_run_extend;
typedef struct rknn_output_extend rknn_output_extend;

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flag,
              rknn_init_extend *extend);
int rknn_destroy(rknn_context context);
int rknn_query(rknn_context context, rknn_query_cmd cmd, void *info, uint32_t size);
int rknn_inputs_set(rknn_context context, uint32_t n_inputs, rknn_input inputs[]);
int rknn_run(rknn_context context, rknn_run_extend *extend);
int rknn_outputs_get(rknn_context context, uint32_t n_outputs, rknn_output outputs[],
                     rknn_output_extend *extend);
int rknn_outputs_release(rknn_context context, uint32_t n_outputs, rknn_output outputs[]);

#ifdef __cplusplus
}
#endif

#endif
