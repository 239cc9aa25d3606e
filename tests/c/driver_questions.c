/*
 * Query a libOpenVX.so and print a line for each question: the question, a tab, the answers; for
 * the host runtime a second tab and its events. tests/data/rknpu_driver_1.7.5.tsv holds the answers
 * of the boards' driver.
 *
 * A question is an expression, or the name of a function here. Each runs in a separate process,
 * which may crash: then the last answer is the signal. An answer is a status or another
 * number; NULL, "object" or "error" with its status for a handle; or a letter for each callback
 * that ran: v, i, p, d.
 */
#define _GNU_SOURCE /* fork, pipe */
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"
#include "VX/vx_ext_program.h"

/* Only in the host runtime. */
__attribute__((weak)) extern const char *hostrt_log_entry(int log, vx_size index,
                                                          vx_status *status);
enum {
    HOSTRT_EVENT = 1,
    SECONDS = 20 /* for a question; under an emulator most take 30 ms */
};

/* ---- The objects of the questions: made again for each question ---- */

static const vx_size ZERO[] = {0, 0, 0, 0, 0, 0, 0};
static const vx_size ONE[] = {1, 1, 1, 1, 1, 1, 1};
static const vx_size DIMS[] = {4, 3};
static const vx_size STRIDES[] = {2, 8};
static const vx_size INSIDE_START[] = {1, 1};
static const vx_size INSIDE_END[] = {3, 3};
static const vx_size INSIDE_DIMS[] = {2, 2};

static vx_context context;
static vx_tensor tensor; /* INT16, 4 x 3: its elements are 0, 1, 2, ... */
static vx_tensor unwritten; /* FLOAT16, 4 x 3 */
static vx_scalar scalar; /* INT32 */
static vx_array array; /* INT32: 3 items, capacity 4 */
static vx_kernel kernel; /* named "known", a CPU kernel of an input and an output */
static vx_graph graph; /* of one node */
static vx_node node;

static vx_map_id map;
static vx_size strides[6];
static void *memory;
static vx_uint64 buffer[16];
static vx_float32 number = 2;

/* ---- Answers ---- */

static int answers; /* a file descriptor */

__attribute__((format(printf, 1, 2))) static void write_answer(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vdprintf(answers, format, arguments);
    va_end(arguments);
}

static void answer(long long value)
{
    write_answer("%lld ", value);
}

static void answer_object(vx_reference reference)
{
    const vx_status status = vxGetStatus(reference);
    if (reference == NULL) {
        write_answer("NULL ");
    } else if (status == VX_SUCCESS) {
        write_answer("object ");
    } else {
        write_answer("error %d ", (int)status);
    }
}

static void finish(void)
{
    vx_status status;
    const char *text;

    write_answer("\t");
    for (vx_size i = 0;
         hostrt_log_entry != NULL && (text = hostrt_log_entry(HOSTRT_EVENT, i, &status)) != NULL;
         i++) {
        write_answer("%s%s", i > 0 ? "; " : "", text);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- The callbacks of the kernel ---- */

static vx_status validate_status, initialize_status, deinitialize_status;
static void (*in_validate)(vx_node of, vx_meta_format meta);
static void (*in_initialize)(vx_node of);
static void (*in_process)(vx_node of);
static void (*in_deinitialize)(vx_node of);

static void called(char letter, void (*action)(vx_node of), vx_node of)
{
    write_answer("%c ", letter);
    if (action != NULL) {
        action(of);
    }
}

static vx_status VX_CALLBACK validate(vx_node of, const vx_reference parameters[], vx_uint32 count,
                                      vx_meta_format metas[])
{
    (void)parameters;
    called('v', NULL, of);
    if (in_validate != NULL) {
        in_validate(of, metas[count - 1]);
    }
    return validate_status;
}

static vx_status VX_CALLBACK initialize(vx_node of, const vx_reference *parameters, vx_uint32 count)
{
    (void)parameters;
    (void)count;
    called('i', in_initialize, of);
    return initialize_status;
}

static vx_status VX_CALLBACK process(vx_node of, const vx_reference *parameters, vx_uint32 count)
{
    (void)parameters;
    (void)count;
    called('p', in_process, of);
    return VX_SUCCESS;
}

static vx_status VX_CALLBACK deinitialize(vx_node of, const vx_reference *parameters,
                                          vx_uint32 count)
{
    (void)parameters;
    (void)count;
    called('d', in_deinitialize, of);
    return deinitialize_status;
}

/* ---- Asking ---- */

static vx_node add_node(void)
{
    vx_node added = vxCreateGenericNode(graph, kernel);
    vxSetParameterByIndex(added, 0, (vx_reference)tensor);
    const vx_tensor output = vxCreateTensor(context, 2, DIMS, VX_TYPE_FLOAT16, 0);
    vxSetParameterByIndex(added, 1, (vx_reference)output);
    return added;
}

static void prepare(void)
{
    const vx_int32 items[] = {10, 20, 30};
    vx_int16 elements[12];

    for (vx_int16 i = 0; i < 12; i++) {
        elements[i] = i;
    }
    context = vxCreateContext();
    tensor = vxCreateTensor(context, 2, DIMS, VX_TYPE_INT16, 0);
    vxCopyTensorPatch(tensor, 2, ZERO, DIMS, STRIDES, elements, VX_WRITE_ONLY, VX_MEMORY_TYPE_HOST);
    unwritten = vxCreateTensor(context, 2, DIMS, VX_TYPE_FLOAT16, 0);
    scalar = vxCreateScalar(context, VX_TYPE_INT32, items);
    array = vxCreateArray(context, VX_TYPE_INT32, 4);
    vxAddArrayItems(array, 3, items, sizeof items[0]);
    kernel =
        vxAddUserKernel(context, "known", 0x100, process, 2, validate, initialize, deinitialize);
    vxAddParameterToKernel(kernel, 0, VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED);
    vxAddParameterToKernel(kernel, 1, VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED);
    vxFinalizeKernel(kernel);
    graph = vxCreateGraph(context);
    node = add_node();
}

static const char *ending(int status)
{
    if (!WIFSIGNALED(status)) {
        return WEXITSTATUS(status) == EXIT_SUCCESS ? "" : "exit";
    }
    switch (WTERMSIG(status)) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGABRT:
        return "SIGABRT";
    default:
        return strsignal(WTERMSIG(status));
    }
}

/* Returns true in a new process, which answers; false in this one, after it printed the answers. */
static bool ask(const char *question)
{
    char text[4096];
    ssize_t size;
    int ends[2];
    int status;

    printf("%s\t", question);
    fflush(stdout);
    if (pipe(ends) != 0) {
        abort();
    }
    const pid_t child = fork();
    if (child == 0) {
        answers = ends[1];
        dup2(STDERR_FILENO, STDOUT_FILENO); /* the driver's own output is not an answer */
        alarm(SECONDS);
        prepare();
        return true;
    }
    close(ends[1]);
    while ((size = read(ends[0], text, sizeof text)) > 0) {
        fwrite(text, 1, (size_t)size, stdout);
    }
    close(ends[0]);
    if (waitpid(child, &status, 0) != child) {
        abort();
    }
    printf("%s\n", ending(status));
    return false;
}

#define ASK(...)             \
    if (ask(#__VA_ARGS__)) { \
        answer(__VA_ARGS__); \
        finish();            \
    }
#define ASK_OBJECT(...)                             \
    if (ask(#__VA_ARGS__)) {                        \
        answer_object((vx_reference)(__VA_ARGS__)); \
        finish();                                   \
    }
#define ASK_FUNCTION(function) \
    if (ask(#function)) {      \
        function();            \
        finish();              \
    }

/* ---- Tensors ---- */

static void ask_tensor_attributes(void)
{
    static const struct {
        vx_enum type;
        const char *name;
    } TYPES[] = {
        {VX_TYPE_INT8, "INT8"},         {VX_TYPE_UINT8, "UINT8"},   {VX_TYPE_BOOL8, "BOOL8"},
        {VX_TYPE_INT16, "INT16"},       {VX_TYPE_UINT16, "UINT16"}, {VX_TYPE_FLOAT16, "FLOAT16"},
        {VX_TYPE_BFLOAT16, "BFLOAT16"}, {VX_TYPE_INT32, "INT32"},   {VX_TYPE_UINT32, "UINT32"},
        {VX_TYPE_FLOAT32, "FLOAT32"},   {VX_TYPE_INT64, "INT64"},
    };
    static const struct {
        vx_enum attribute;
        const char *name;
    } ATTRIBUTES[] = {
        {VX_TENSOR_QUANT_FORMAT, "QUANT_FORMAT"},
        {VX_TENSOR_ZERO_POINT, "ZERO_POINT"},
        {VX_TENSOR_SCALE, "SCALE"},
        {VX_TENSOR_RANK, "RANK"},
        {VX_TENSOR_PRECISION, "PRECISION"},
        {VX_TENSOR_LIFETIME, "LIFETIME"},
        {VX_TENSOR_VALUE, "VALUE"},
    };
    char question[64];

    for (size_t i = 0; i < dimof(TYPES) * dimof(ATTRIBUTES); i++) {
        const vx_enum attribute = ATTRIBUTES[i % dimof(ATTRIBUTES)].attribute;
        const size_t type = i / dimof(ATTRIBUTES);
        snprintf(question, sizeof question, "query, set to 2, query %s of %s",
                 ATTRIBUTES[i % dimof(ATTRIBUTES)].name, TYPES[type].name);
        if (ask(question)) {
            const vx_tensor made = vxCreateTensor(context, 2, DIMS, TYPES[type].type, 3);
            const vx_int32 two = 2;
            vx_int32 value = -1;
            answer(vxQueryTensor(made, attribute, &value, sizeof value));
            answer(value);
            answer(vxSetTensorAttribute(made, attribute, &two, sizeof two));
            answer(vxQueryTensor(made, attribute, &value, sizeof value));
            answer(value);
            finish();
        }
    }
}

/* Answers the status; on success the strides, 77 for an unset one, and the first element. */
static void answer_map(vx_tensor of, vx_size count, const vx_size *start, const vx_size *end,
                       vx_enum usage)
{
    strides[0] = strides[1] = 77;
    const vx_status status =
        vxMapTensorPatch(of, count, start, end, &map, strides, &memory, usage, VX_MEMORY_TYPE_HOST);
    answer(status);
    if (status == VX_SUCCESS) {
        answer((long long)strides[0]);
        answer((long long)strides[1]);
        answer(*(vx_int16 *)memory);
    }
}

static void answer_elements(vx_tensor of, vx_size width, vx_size height)
{
    const vx_size end[] = {width, height};
    const vx_size dense[] = {2, 2 * width};
    vx_int16 elements[12];

    answer(vxCopyTensorPatch(of, 2, ZERO, end, dense, elements, VX_READ_ONLY, VX_MEMORY_TYPE_HOST));
    for (vx_size i = 0; i < width * height; i++) {
        answer(elements[i]);
    }
}

static vx_tensor view_inside(void)
{
    return vxCreateTensorFromView(tensor, 2, INSIDE_START, INSIDE_END);
}

static void map_a_view(void)
{
    const vx_tensor view = view_inside();
    answer_map(view, 2, ZERO, INSIDE_DIMS, VX_READ_ONLY);
    answer(vxUnmapTensorPatch(view, map));
    answer_elements(view, 2, 2);
}

static void map_the_last_element_of_a_view(void)
{
    answer_map(view_inside(), 2, ONE, INSIDE_DIMS, VX_READ_ONLY);
}

static void map_a_view_of_a_view(void)
{
    const vx_size start[] = {1, 0};
    const vx_tensor view = vxCreateTensorFromView(view_inside(), 2, start, INSIDE_DIMS);
    const vx_size end[] = {1, 2};
    answer_map(view, 2, ZERO, end, VX_READ_ONLY);
    answer_elements(view, 1, 2);
}

static void map_a_view_of_all(void)
{
    const vx_tensor view = vxCreateTensorFromView(tensor, 2, ZERO, DIMS);
    answer_map(view, 2, ONE, DIMS, VX_READ_ONLY);
}

static void map_a_view_of_the_first_rows(void)
{
    const vx_size end[] = {4, 2};
    const vx_tensor view = vxCreateTensorFromView(tensor, 2, ZERO, end);
    answer_map(view, 2, ONE, end, VX_READ_ONLY);
}

static void map_a_view_of_the_last_rows(void)
{
    const vx_size start[] = {0, 1};
    const vx_size end[] = {4, 2};
    const vx_tensor view = vxCreateTensorFromView(tensor, 2, start, DIMS);
    answer_map(view, 2, ONE, end, VX_READ_ONLY);
}

static void write_through_a_map_of_a_view(void)
{
    const vx_tensor view = view_inside();
    answer_map(view, 2, ZERO, INSIDE_DIMS, VX_READ_AND_WRITE);
    for (int i = 0; i < 4; i++) {
        ((vx_int16 *)memory)[i] = (vx_int16)(90 + i);
    }
    answer(vxUnmapTensorPatch(view, map));
    answer_elements(tensor, 4, 3);
}

/* Any address: it is not read. */
static void map_fewer_dimensions(void)
{
    strides[1] = 77;
    answer(vxMapTensorPatch(tensor, 1, ONE, DIMS, &map, strides, &memory, VX_READ_ONLY,
                            VX_MEMORY_TYPE_HOST));
    answer((long long)strides[0]);
    answer((long long)strides[1]);
}

static void map_without_start_or_end(void)
{
    answer_map(tensor, 2, NULL, INSIDE_END, VX_READ_ONLY);
    answer_map(tensor, 2, ONE, NULL, VX_READ_ONLY);
    answer_map(tensor, 2, NULL, NULL, VX_READ_ONLY);
    answer_map(tensor, 2, DIMS, NULL, VX_READ_ONLY);
    answer_map(tensor, 3, NULL, NULL, VX_READ_ONLY);
}

static void map_with_an_unknown_usage(void)
{
    answer_map(tensor, 2, ONE, DIMS, 99);
}

static void map_an_unwritten_tensor(void)
{
    answer_map(unwritten, 2, ZERO, DIMS, VX_READ_ONLY);
    answer_map(unwritten, 2, ZERO, DIMS, VX_READ_AND_WRITE);
    answer_map(unwritten, 3, ZERO, ZERO, VX_READ_ONLY);
    answer_map(unwritten, 3, ZERO, DIMS, VX_WRITE_ONLY);
    answer(vxMapTensorPatch(unwritten, 2, ZERO, DIMS, &map, strides, &memory, VX_READ_ONLY,
                            VX_MEMORY_TYPE_HOST));
}

static void unmap_twice(void)
{
    answer_map(tensor, 2, ONE, DIMS, VX_READ_ONLY);
    answer(vxUnmapTensorPatch(unwritten, map));
    answer(vxUnmapTensorPatch(tensor, map));
    answer(vxUnmapTensorPatch(tensor, map));
}

static void tensor_with_a_dimension_of_0(void)
{
    const vx_size dims[] = {4, 0};
    const vx_tensor empty = vxCreateTensor(context, 2, dims, VX_TYPE_INT16, 0);

    answer_object((vx_reference)empty);
    answer(vxQueryTensor(empty, VX_TENSOR_DIMS, buffer, 8));
    answer(vxQueryTensor(empty, VX_TENSOR_NUMBER_OF_DIMS, buffer, 4));
    answer(vxSetTensorAttribute(empty, VX_TENSOR_RANK, buffer, 4));
    answer(vxCopyTensorPatch(empty, 2, ZERO, DIMS, STRIDES, buffer, VX_WRITE_ONLY,
                             VX_MEMORY_TYPE_HOST));
    answer_map(empty, 2, ZERO, DIMS, VX_WRITE_ONLY);
    answer(vxUnmapTensorPatch(empty, map));
    answer_object((vx_reference)vxCreateTensorFromView(empty, 2, ZERO, dims));
    answer(vxSetParameterByIndex(node, 1, (vx_reference)empty));
    answer(vxReleaseTensor(&(vx_tensor){empty}));
}

/* Answers a view, its dimensions and elements. */
static void answer_view(vx_size x0, vx_size y0, vx_size x1, vx_size y1)
{
    const vx_size start[] = {x0, y0};
    const vx_size end[] = {x1, y1};
    const vx_tensor view = vxCreateTensorFromView(tensor, 2, start, end);
    vx_uint32 dims[2] = {0, 0};

    answer_object((vx_reference)view);
    if (view != NULL) {
        answer(vxQueryTensor(view, VX_TENSOR_DIMS, dims, sizeof dims));
        answer(dims[0]);
        answer(dims[1]);
        answer_elements(view, dims[0], dims[1]);
    }
}

static void view_without_columns(void)
{
    answer_view(1, 0, 1, 2);
}

static void view_without_elements(void)
{
    answer_view(1, 1, 1, 1);
}

static void invalid_views(void)
{
    answer_view(2, 0, 1, 3);
    answer_view(0, 0, 5, 3);
    answer_object((vx_reference)vxCreateTensorFromView(tensor, 1, ZERO, DIMS));
    answer_object((vx_reference)vxCreateTensorFromView(tensor, 3, ZERO, ONE));
    answer_object((vx_reference)vxCreateTensorFromView(tensor, 0, ZERO, DIMS));
}

static void ask_tensors(void)
{
    ask_tensor_attributes();
    ASK_FUNCTION(map_a_view)
    ASK_FUNCTION(map_the_last_element_of_a_view)
    ASK_FUNCTION(map_a_view_of_a_view)
    ASK_FUNCTION(map_a_view_of_all)
    ASK_FUNCTION(map_a_view_of_the_first_rows)
    ASK_FUNCTION(map_a_view_of_the_last_rows)
    ASK_FUNCTION(write_through_a_map_of_a_view)
    ASK_FUNCTION(map_fewer_dimensions)
    ASK_FUNCTION(map_without_start_or_end)
    ASK_FUNCTION(map_with_an_unknown_usage)
    ASK_FUNCTION(map_an_unwritten_tensor)
    ASK_FUNCTION(unmap_twice)
    ASK_FUNCTION(tensor_with_a_dimension_of_0)
    ASK_FUNCTION(view_without_columns)
    ASK_FUNCTION(view_without_elements)
    ASK_FUNCTION(invalid_views)
    ASK_OBJECT(vxCreateTensor(context, 0, DIMS, VX_TYPE_INT16, 0))
    ASK_OBJECT(vxCreateTensor(context, 7, ONE, VX_TYPE_INT16, 0))
    ASK_OBJECT(vxCreateTensor(context, 2, DIMS, VX_TYPE_FLOAT64, 0))
}

/* ---- Arrays and scalars ---- */

/* Answers the status, the attributes afterwards, and whether 3 and 4 items can be copied. */
static void answer_set_array(vx_enum attribute, vx_size value)
{
    static const vx_enum ATTRIBUTES[] = {VX_ARRAY_NUMITEMS, VX_ARRAY_CAPACITY, VX_ARRAY_ITEMSIZE};
    const vx_size size = attribute == VX_ARRAY_ITEMTYPE ? sizeof(vx_enum) : sizeof value;
    vx_enum type = 0;

    answer(vxSetArrayAttribute(array, attribute, &value, size));
    for (size_t i = 0; i < dimof(ATTRIBUTES); i++) {
        vx_size queried = 0;
        vxQueryArray(array, ATTRIBUTES[i], &queried, sizeof queried);
        answer((long long)queried);
    }
    vxQueryArray(array, VX_ARRAY_ITEMTYPE, &type, sizeof type);
    answer(type);
    for (vx_size end = 3; end <= 4 && attribute == VX_ARRAY_NUMITEMS; end++) {
        answer(vxCopyArrayRange(array, 0, end, 4, buffer, VX_READ_ONLY, VX_MEMORY_TYPE_HOST));
    }
}

static void set_numitems_to_2(void)
{
    answer_set_array(VX_ARRAY_NUMITEMS, 2);
}

static void set_numitems_to_the_capacity(void)
{
    answer_set_array(VX_ARRAY_NUMITEMS, 4);
}

static void set_numitems_beyond_the_capacity(void)
{
    answer_set_array(VX_ARRAY_NUMITEMS, 6);
    answer(vxAddArrayItems(array, 1, buffer, 4));
}

static void set_capacity(void)
{
    answer_set_array(VX_ARRAY_CAPACITY, 6);
}

static void set_itemsize(void)
{
    answer_set_array(VX_ARRAY_ITEMSIZE, 8);
}

static void set_itemtype(void)
{
    answer_set_array(VX_ARRAY_ITEMTYPE, VX_TYPE_UINT8);
}

static void set_array_attributes_with_other_sizes(void)
{
    answer(vxSetArrayAttribute(array, VX_ARRAY_NUMITEMS, buffer, sizeof(vx_size) / 2));
    answer(vxSetArrayAttribute(array, VX_ARRAY_NUMITEMS, buffer, sizeof(vx_size) * 2));
    answer(vxSetArrayAttribute(array, VX_ARRAY_ITEMTYPE, buffer, 2));
    answer(vxSetArrayAttribute(array, 0x080E04, buffer, 4));
}

/* Asks which array types exist, and the size of their items. */
static void ask_array_types(void)
{
    static const vx_enum TYPES[] = {
        VX_TYPE_INVALID,
        VX_TYPE_INT32,
        VX_TYPE_FLOAT16,
        VX_TYPE_BFLOAT16,
        VX_TYPE_BOOL8,
        VX_TYPE_COORDINATES3D,
        VX_TYPE_HOG_PARAMS,
        VX_TYPE_COORDINATES2DF,
        VX_TYPE_HOUGH_LINES_PARAMS,
        VX_TYPE_LINE_2D,
        0x999,
        VX_TYPE_TENSOR_MATRIX_MULTIPLY_PARAMS,
    };
    char question[64];

    for (size_t i = 0; i < dimof(TYPES); i++) {
        snprintf(question, sizeof question, "array of the type 0x%X", (unsigned)TYPES[i]);
        if (ask(question)) {
            const vx_array made = vxCreateArray(context, TYPES[i], 2);
            vx_size size = 0;
            answer_object((vx_reference)made);
            vxQueryArray(made, VX_ARRAY_ITEMSIZE, &size, sizeof size);
            answer((long long)size);
            finish();
        }
    }
}

/* Asks each function that copies a scalar for its status and the count of written bytes. */
static void ask_scalar_types(void)
{
    char question[64];
    vx_uint8 bytes[48];

    for (vx_enum type = VX_TYPE_CHAR; type <= 0x2C; type++) {
        snprintf(question, sizeof question, "copy, copy with size, read a scalar of 0x%X",
                 (unsigned)type);
        if (ask(question)) {
            memset(bytes, 0x5A, sizeof bytes);
            const vx_scalar made = vxCreateScalar(context, type, bytes);
            vx_status statuses[3];
            for (int i = 0; i < 3; i++) {
                vx_size size = sizeof bytes;
                memset(bytes, 0, sizeof bytes);
                statuses[i] = i == 0 ? vxCopyScalar(made, bytes, VX_READ_ONLY, VX_MEMORY_TYPE_HOST)
                              : i == 1 ? vxCopyScalarWithSize(made, 1, bytes, VX_READ_ONLY,
                                                              VX_MEMORY_TYPE_HOST)
                                       : vxReadScalarValue(made, bytes);
                while (size > 0 && bytes[size - 1] == 0) {
                    size--;
                }
                answer(statuses[i]);
                answer((long long)size);
            }
            finish();
        }
    }
}

static void ask_arrays_and_scalars(void)
{
    ASK_FUNCTION(set_numitems_to_2)
    ASK_FUNCTION(set_numitems_to_the_capacity)
    ASK_FUNCTION(set_numitems_beyond_the_capacity)
    ASK_FUNCTION(set_capacity)
    ASK_FUNCTION(set_itemsize)
    ASK_FUNCTION(set_itemtype)
    ASK_FUNCTION(set_array_attributes_with_other_sizes)
    ASK(vxAddArrayItems(array, 2, buffer, 4))
    ASK(vxAddArrayItems(array, 1, buffer, 0))
    ASK(vxTruncateArray(array, 4))
    ASK_OBJECT(vxCreateArray(context, VX_TYPE_INT32, 0))
    ask_array_types();
    ask_scalar_types();
}

/* ---- Graphs ---- */

static void release_graph(void)
{
    answer(vxReleaseNode(&node));
    answer(vxReleaseGraph(&graph));
}

static void fail_once(vx_status *status)
{
    *status = VX_ERROR_INVALID_FORMAT;
    answer(vxVerifyGraph(graph));
    *status = VX_SUCCESS;
    answer(vxVerifyGraph(graph));
    answer(vxProcessGraph(graph));
    release_graph();
}

static void fail_the_validator_once(void)
{
    fail_once(&validate_status);
}

static void fail_the_initializer_once(void)
{
    fail_once(&initialize_status);
}

static void fail_the_initializer_twice(void)
{
    initialize_status = VX_ERROR_INVALID_FORMAT;
    answer(vxVerifyGraph(graph));
    answer(vxVerifyGraph(graph));
    release_graph();
}

static void release_an_unverified_graph(void)
{
    release_graph();
}

static void release_a_graph_before_its_node(void)
{
    answer(vxVerifyGraph(graph));
    answer(vxReleaseGraph(&graph));
    answer(vxReleaseNode(&node));
}

static void add_a_node_and_verify_again(void)
{
    answer(vxVerifyGraph(graph));
    vxReleaseNode(&(vx_node){add_node()});
    answer(vxVerifyGraph(graph));
    release_graph();
}

static void fail_to_verify_again(void)
{
    answer(vxVerifyGraph(graph));
    answer(vxSetParameterByIndex(node, 0, (vx_reference)tensor));
    fail_once(&validate_status);
}

static void set_a_parameter_and_verify_again(void)
{
    answer(vxVerifyGraph(graph));
    answer(vxSetParameterByIndex(node, 0, (vx_reference)tensor));
    answer(vxProcessGraph(graph));
    release_graph();
}

static void fail_the_deinitializer_and_verify_again(void)
{
    answer(vxVerifyGraph(graph));
    answer(vxSetParameterByIndex(node, 0, (vx_reference)tensor));
    deinitialize_status = VX_ERROR_INVALID_FORMAT;
    answer(vxVerifyGraph(graph));
    deinitialize_status = VX_SUCCESS;
    release_graph();
}

static void empty_graph(void)
{
    graph = vxCreateGraph(context);
    answer(vxVerifyGraph(graph));
    answer(vxProcessGraph(graph));
}

static void node_without_parameters(void)
{
    graph = vxCreateGraph(context);
    vxCreateGenericNode(graph, kernel);
    answer(vxVerifyGraph(graph));
}

static void unknown_kernel(void)
{
    vx_kernel unknown = vxGetKernelByName(context, "unknown");
    answer_object((vx_reference)unknown);
    answer_object((vx_reference)vxCreateGenericNode(graph, unknown));
    answer(vxRemoveKernel(unknown));
    answer(vxReleaseKernel(&unknown));
    answer_object((vx_reference)vxGetKernelByName(context, ""));
    answer(vxGetKernelByName(context, "known") == kernel);
}

static void set_meta_sizes(vx_node of, vx_meta_format meta)
{
    (void)of;
    answer(vxSetMetaFormatAttribute(meta, VX_TENSOR_DIMS, buffer, 6 * sizeof(vx_size)));
    answer(vxSetMetaFormatAttribute(meta, VX_TENSOR_DIMS, buffer, 6 * sizeof(vx_size) + 1));
    answer(vxSetMetaFormatAttribute(meta, VX_TENSOR_NUMBER_OF_DIMS, buffer, 8));
    answer(vxSetMetaFormatAttribute(meta, VX_TENSOR_NUMBER_OF_DIMS, buffer, 4));
}

static void sizes_of_metas(void)
{
    in_validate = set_meta_sizes;
    answer(vxVerifyGraph(graph));
}

static void set_meta_to_null(vx_node of, vx_meta_format meta)
{
    (void)of;
    answer(vxSetMetaFormatAttribute(meta, VX_TENSOR_DATA_TYPE, NULL, sizeof(vx_enum)));
}

static void meta_from_null(void)
{
    in_validate = set_meta_to_null;
    answer(vxVerifyGraph(graph));
}

/* The tensors of two linked nodes: of their inputs and outputs, 4 x 3. */
enum linked {
    READ,
    WRITTEN,
    OTHER,
    INSIDE, /* of WRITTEN: its views */
    CORNER,
    LEFT,
    RIGHT,
    READ_INSIDE, /* a view of READ */
    LINKED
};

static void verify_linked(const enum linked parameters[4])
{
    static const vx_size SPLIT[] = {2, 0};
    static const vx_size LEFT_END[] = {2, 3};
    vx_tensor linked[LINKED] = {[READ] = tensor};

    linked[WRITTEN] = vxCreateTensor(context, 2, DIMS, VX_TYPE_INT16, 0);
    linked[OTHER] = vxCreateTensor(context, 2, DIMS, VX_TYPE_INT16, 0);
    linked[INSIDE] = vxCreateTensorFromView(linked[WRITTEN], 2, INSIDE_START, INSIDE_END);
    linked[CORNER] = vxCreateTensorFromView(linked[WRITTEN], 2, ZERO, ONE);
    linked[LEFT] = vxCreateTensorFromView(linked[WRITTEN], 2, ZERO, LEFT_END);
    linked[RIGHT] = vxCreateTensorFromView(linked[WRITTEN], 2, SPLIT, DIMS);
    linked[READ_INSIDE] = vxCreateTensorFromView(tensor, 2, INSIDE_START, INSIDE_END);
    graph = vxCreateGraph(context);
    for (vx_uint32 i = 0; i < 4; i++) {
        node = i % 2 == 0 ? vxCreateGenericNode(graph, kernel) : node;
        answer(vxSetParameterByIndex(node, i % 2, (vx_reference)linked[parameters[i]]));
    }
    answer(vxProcessGraph(graph));
}

static void ask_links(void)
{
    static const struct {
        const char *nodes;
        enum linked parameters[4]; /* input and output of the first node, of the second */
    } LINKS[] = {
        {"in a chain", {READ, WRITTEN, WRITTEN, OTHER}},
        {"in a chain, the last one first", {WRITTEN, OTHER, READ, WRITTEN}},
        {"that write one tensor", {READ, WRITTEN, READ, WRITTEN}},
        {"that write a tensor and its view", {READ, WRITTEN, READ, INSIDE}},
        {"that write views with common elements", {READ, LEFT, READ, INSIDE}},
        {"that write views side by side", {READ, LEFT, READ, RIGHT}},
        {"that write views far apart", {READ, INSIDE, READ, CORNER}},
        {"that read each other's output", {OTHER, WRITTEN, WRITTEN, OTHER}},
        {"of which one writes its input", {READ, READ, WRITTEN, OTHER}},
        {"of which one writes a view of its input", {READ, READ_INSIDE, READ, OTHER}},
        {"of which one writes beside its input", {LEFT, RIGHT, READ, OTHER}},
        {"of which one reads a view of the other's output", {READ, WRITTEN, INSIDE, OTHER}},
        {"of which one writes its input, and both one tensor", {READ, WRITTEN, WRITTEN, WRITTEN}},
    };
    char question[128];

    for (size_t i = 0; i < dimof(LINKS); i++) {
        snprintf(question, sizeof question, "two nodes %s", LINKS[i].nodes);
        if (ask(question)) {
            verify_linked(LINKS[i].parameters);
            finish();
        }
    }
}

static void ask_graphs(void)
{
    ask_links();
    ASK_FUNCTION(fail_the_validator_once)
    ASK_FUNCTION(fail_the_initializer_once)
    ASK_FUNCTION(fail_the_initializer_twice)
    ASK_FUNCTION(release_an_unverified_graph)
    ASK_FUNCTION(release_a_graph_before_its_node)
    ASK_FUNCTION(add_a_node_and_verify_again)
    ASK_FUNCTION(fail_to_verify_again)
    ASK_FUNCTION(set_a_parameter_and_verify_again)
    ASK_FUNCTION(fail_the_deinitializer_and_verify_again)
    ASK_FUNCTION(empty_graph)
    ASK_FUNCTION(node_without_parameters)
    ASK_FUNCTION(unknown_kernel)
    ASK_FUNCTION(sizes_of_metas)
    ASK_FUNCTION(meta_from_null)
}

/* ---- Nodes ---- */

enum local_data {
    SET_POINTER = 1, /* the initializer, to memory of its own */
    SET_SIZE = 2, /* the initializer, to 16 */
    FAIL = 4, /* the initializer */
    CLEAR_POINTER = 8, /* the deinitializer, after it freed its memory */
    CLEAR_SIZE = 16, /* the deinitializer */
    ONLY_FREE = 32 /* the deinitializer, its memory */
};

static unsigned what; /* of enum local_data */
static bool fails_once; /* the initializer */
static void *own;

static void answer_local_data(vx_node of)
{
    vx_size size = 99;
    void *pointer = &size;

    answer(vxQueryNode(of, VX_NODE_LOCAL_DATA_SIZE, &size, sizeof size));
    answer(vxQueryNode(of, VX_NODE_LOCAL_DATA_PTR, &pointer, sizeof pointer));
    answer((long long)size);
    write_answer("%s ", pointer == NULL ? "NULL" : pointer == own ? "own" : "driver's");
}

static void set_pointer(vx_node of, void *pointer)
{
    answer(vxSetNodeAttribute(of, VX_NODE_LOCAL_DATA_PTR, &pointer, sizeof pointer));
}

static void set_size(vx_node of, vx_size size)
{
    answer(vxSetNodeAttribute(of, VX_NODE_LOCAL_DATA_SIZE, &size, sizeof size));
}

static void set_local_data(vx_node of)
{
    initialize_status = fails_once || (what & FAIL) != 0 ? VX_ERROR_INVALID_FORMAT : VX_SUCCESS;
    fails_once = false;
    if ((what & SET_POINTER) != 0) {
        own = malloc(32);
        set_pointer(of, own);
    }
    if ((what & SET_SIZE) != 0) {
        set_size(of, 16);
    }
}

static void clear_local_data(vx_node of)
{
    answer_local_data(of);
    if ((what & SET_POINTER) != 0 && (what & (CLEAR_POINTER | ONLY_FREE)) != 0) {
        free(own);
    }
    if ((what & CLEAR_POINTER) != 0) {
        set_pointer(of, NULL);
    }
    if ((what & CLEAR_SIZE) != 0) {
        set_size(of, 0);
    }
}

static void ask_local_data(void)
{
    static const struct {
        const char *initializer;
        unsigned flags;
    } INITIALIZERS[] = {
        {"sets nothing", 0},
        {"sets its pointer", SET_POINTER},
        {"sets a size", SET_SIZE},
        {"sets its pointer and a size", SET_POINTER | SET_SIZE},
        {"sets its pointer, and fails", SET_POINTER | FAIL},
        {"sets a size, and fails", SET_SIZE | FAIL},
    };
    static const struct {
        const char *deinitializer;
        unsigned flags;
    } DEINITIALIZERS[] = {
        {"does nothing", 0},
        {"frees, clears the pointer", CLEAR_POINTER},
        {"frees, clears pointer and size", CLEAR_POINTER | CLEAR_SIZE},
        {"clears the size", CLEAR_SIZE},
        {"frees", ONLY_FREE},
    };
    char question[128];

    in_initialize = set_local_data;
    in_process = answer_local_data;
    in_deinitialize = clear_local_data;
    for (size_t i = 0; i < dimof(INITIALIZERS) * dimof(DEINITIALIZERS); i++) {
        const size_t first = i / dimof(DEINITIALIZERS);
        const size_t last = i % dimof(DEINITIALIZERS);
        snprintf(question, sizeof question, "local data: initializer %s; deinitializer %s",
                 INITIALIZERS[first].initializer, DEINITIALIZERS[last].deinitializer);
        what = INITIALIZERS[first].flags | DEINITIALIZERS[last].flags;
        if (ask(question)) {
            answer(vxProcessGraph(graph));
            release_graph();
            finish();
        }
        if ((what & FAIL) != 0) {
            continue;
        }
        for (int fails = 0; fails < 2; fails++) {
            snprintf(question, sizeof question, "local data%s: initializer %s; deinitializer %s",
                     fails ? ", after the initializer failed" : ", of a graph verified again",
                     INITIALIZERS[first].initializer, DEINITIALIZERS[last].deinitializer);
            fails_once = fails;
            if (ask(question)) {
                answer(vxProcessGraph(graph));
                answer(vxSetParameterByIndex(node, 0, (vx_reference)tensor));
                answer(vxProcessGraph(graph));
                release_graph();
                finish();
            }
        }
        fails_once = false;
    }
    in_initialize = in_process = in_deinitialize = NULL;
    initialize_status = VX_SUCCESS;
}

static void keep_static_memory(vx_node of)
{
    set_pointer(of, buffer);
}

static void local_data_of_static_memory(void)
{
    in_initialize = keep_static_memory;
    answer(vxVerifyGraph(graph));
    release_graph();
}

static void set_null_pointer(vx_node of)
{
    set_pointer(of, NULL);
}

static void local_data_outside_of_the_initializer(void)
{
    in_process = set_null_pointer;
    set_null_pointer(node);
    answer(vxProcessGraph(graph));
    set_null_pointer(node);
}

static void set_border(vx_node of)
{
    const vx_border_t border = {.mode = VX_BORDER_REPLICATE};
    answer(vxSetNodeAttribute(of, VX_NODE_BORDER, &border, sizeof border));
}

static void border_in_the_deinitializer(void)
{
    in_process = in_deinitialize = set_border;
    answer(vxProcessGraph(graph));
    release_graph();
}

static void set_uniform(vx_node of)
{
    answer(vxSetNodeUniform(of, "a", 1, &number));
}

static void uniform_in_the_initializer_of_a_cpu_kernel(void)
{
    in_initialize = set_uniform;
    answer(vxVerifyGraph(graph));
}

static void ask_nodes(void)
{
    ask_local_data();
    ASK_FUNCTION(local_data_of_static_memory)
    ASK_FUNCTION(local_data_outside_of_the_initializer)
    ASK_FUNCTION(border_in_the_deinitializer)
    ASK_FUNCTION(uniform_in_the_initializer_of_a_cpu_kernel)
    ASK(vxSetNodeUniform(node, "a", 1, &number))
    ASK(vxSelectKernelSubname(node, "a"))
    ASK(vxSetParameterByIndex(node, 0, (vx_reference)scalar))
    ASK(vxSetParameterByIndex(node, 0, (vx_reference)array))
    ASK(vxSetParameterByIndex(node, 0, (vx_reference)kernel))
    ASK(vxSetParameterByIndex(node, 0, (vx_reference)context))
    ASK(vxSetParameterByIndex(node, 0, (vx_reference)buffer))
    ASK(vxSetParameterByIndex(node, 0, (vx_reference)vxGetKernelByName(context, "unknown")))
    ASK(vxSetParameterByIndex(node, 0, (vx_reference)vxCreateArray(context, VX_TYPE_INT32, 0)))
    ASK(vxSetParameterByIndex(node, 2, (vx_reference)tensor))
    ASK(vxQueryNode(node, VX_NODE_VALID_RECT_RESET, buffer, sizeof(vx_bool)))
    ASK(vxSetNodeAttribute(node, VX_NODE_VALID_RECT_RESET, buffer, sizeof(vx_bool)))
    ASK(vxQueryNode(node, VX_NODE_REPLICATE_FLAGS, buffer, sizeof(vx_bool)))
    ASK(vxQueryNode(node, VX_NODE_REPLICATE_FLAGS, buffer, 2 * sizeof(vx_bool)))
}

/* ---- NULL ---- */

static void ask_null_objects(void)
{
    static vx_kernel no_kernel;
    static vx_node no_node;
    ASK(vxGetStatus(NULL))
    ASK_OBJECT(vxGetContext(NULL))
    ASK(vxQueryReference(NULL, VX_REFERENCE_TYPE, buffer, 4))
    ASK(vxReleaseReference(NULL))
    ASK_OBJECT(vxCreateGraph(NULL))
    ASK(vxVerifyGraph(NULL))
    ASK(vxProcessGraph(NULL))
    ASK(vxReleaseGraph(NULL))
    ASK_OBJECT(vxAddUserKernel(NULL, "new", 0x101, process, 1, validate, NULL, NULL))
    ASK(vxAddParameterToKernel(NULL, 0, VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED))
    ASK(vxFinalizeKernel(NULL))
    ASK(vxRemoveKernel(NULL))
    ASK(vxReleaseKernel(NULL))
    ASK(vxReleaseKernel(&no_kernel))
    ASK_OBJECT(vxGetKernelByName(NULL, "known"))
    ASK_OBJECT(vxCreateGenericNode(NULL, kernel))
    ASK_OBJECT(vxCreateGenericNode(graph, NULL))
    ASK(vxSetParameterByIndex(NULL, 0, (vx_reference)tensor))
    ASK(vxSetParameterByIndex(node, 0, NULL))
    ASK(vxQueryNode(NULL, VX_NODE_STATUS, buffer, 4))
    ASK(vxSetNodeAttribute(NULL, VX_NODE_BORDER, buffer, 20))
    ASK(vxSetNodeUniform(NULL, "a", 1, &number))
    ASK(vxSelectKernelSubname(NULL, "a"))
    ASK(vxReleaseNode(NULL))
    ASK(vxReleaseNode(&no_node))
    ASK(vxSetMetaFormatAttribute(NULL, VX_TENSOR_DATA_TYPE, buffer, 4))
    ASK(vxSetMetaFormatFromReference(NULL, (vx_reference)tensor))
    ASK_OBJECT(vxCreateProgramWithBinary(NULL, (const vx_uint8 *)buffer, 4))
    ASK(vxBuildProgram(NULL, ""))
    ASK(vxReleaseProgram(NULL))
}

static void ask_null_data_objects(void)
{
    ASK_OBJECT(vxCreateTensor(NULL, 2, DIMS, VX_TYPE_INT16, 0))
    ASK_OBJECT(vxCreateTensorFromView(NULL, 2, ZERO, DIMS))
    ASK(vxReleaseTensor(NULL))
    ASK(vxQueryTensor(NULL, VX_TENSOR_DATA_TYPE, buffer, 4))
    ASK(vxSetTensorAttribute(NULL, VX_TENSOR_RANK, buffer, 4))
    ASK(vxCopyTensorPatch(NULL, 2, ZERO, DIMS, STRIDES, buffer, VX_READ_ONLY, VX_MEMORY_TYPE_HOST))
    ASK(vxMapTensorPatch(NULL, 2, ZERO, DIMS, &map, strides, &memory, VX_READ_ONLY, 0))
    ASK(vxUnmapTensorPatch(NULL, 0))
    ASK_OBJECT(vxCreateScalar(NULL, VX_TYPE_INT32, buffer))
    ASK_OBJECT(vxCreateScalarWithSize(NULL, VX_TYPE_INT32, buffer, 4))
    ASK(vxReleaseScalar(NULL))
    ASK(vxQueryScalar(NULL, VX_SCALAR_TYPE, buffer, 4))
    ASK(vxCopyScalar(NULL, buffer, VX_READ_ONLY, VX_MEMORY_TYPE_HOST))
    ASK(vxReadScalarValue(NULL, buffer))
    ASK(vxWriteScalarValue(NULL, buffer))
    ASK_OBJECT(vxCreateArray(NULL, VX_TYPE_INT32, 1))
    ASK(vxReleaseArray(NULL))
    ASK(vxQueryArray(NULL, VX_ARRAY_NUMITEMS, buffer, sizeof(vx_size)))
    ASK(vxSetArrayAttribute(NULL, VX_ARRAY_NUMITEMS, buffer, sizeof(vx_size)))
    ASK(vxAddArrayItems(NULL, 1, buffer, 4))
    ASK(vxTruncateArray(NULL, 1))
    ASK(vxCopyArrayRange(NULL, 0, 1, 4, buffer, VX_READ_ONLY, VX_MEMORY_TYPE_HOST))
    ASK(vxMapArrayRange(NULL, 0, 1, &map, strides, &memory, VX_READ_ONLY, 0, 0))
    ASK(vxUnmapArrayRange(NULL, 0))
}

static void ask_null_values(void)
{
    const vx_enum launch = VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS;
    ASK(vxQueryReference((vx_reference)tensor, VX_REFERENCE_TYPE, NULL, 4))
    ASK(vxQueryReference((vx_reference)tensor, VX_REFERENCE_TYPE, NULL, 3))
    ASK(vxQueryReference((vx_reference)tensor, VX_REFERENCE_NAME, NULL, sizeof(void *)))
    ASK_OBJECT(vxAddUserKernel(context, NULL, 0x101, process, 1, validate, NULL, NULL))
    ASK_OBJECT(vxAddUserKernel(context, "new", 0x101, NULL, 1, validate, NULL, NULL))
    ASK_OBJECT(vxAddUserKernel(context, "new", 0x101, process, 1, NULL, NULL, NULL))
    ASK_OBJECT(vxGetKernelByName(context, NULL))
    ASK(vxQueryNode(node, VX_NODE_STATUS, NULL, 4))
    ASK(vxQueryNode(node, VX_NODE_LOCAL_DATA_PTR, NULL, sizeof(void *)))
    ASK(vxSetNodeAttribute(node, VX_NODE_BORDER, NULL, 20))
    ASK(vxSetNodeAttribute(node, VX_NODE_BORDER, NULL, 3))
    ASK(vxSetNodeAttribute(node, launch, NULL, sizeof(vx_kernel_execution_parameters_t)))
    ASK(vxSetNodeUniform(node, NULL, 1, &number))
    ASK(vxSetNodeUniform(node, "a", 1, NULL))
    ASK(vxSelectKernelSubname(node, NULL))
    ASK_OBJECT(vxCreateTensor(context, 2, NULL, VX_TYPE_INT16, 0))
    ASK_OBJECT(vxCreateTensorFromView(tensor, 2, NULL, DIMS))
    ASK_OBJECT(vxCreateTensorFromView(tensor, 2, ZERO, NULL))
    ASK(vxQueryTensor(tensor, VX_TENSOR_NUMBER_OF_DIMS, NULL, 4))
    ASK(vxQueryTensor(tensor, VX_TENSOR_NUMBER_OF_DIMS, NULL, 3))
    ASK(vxQueryTensor(tensor, VX_TENSOR_DIMS, NULL, 8))
    ASK(vxQueryTensor(tensor, VX_TENSOR_DIMS, NULL, 3))
    ASK(vxQueryTensor(tensor, VX_TENSOR_DATA_TYPE, NULL, 4))
    ASK(vxQueryTensor(tensor, VX_TENSOR_FIXED_POINT_POSITION, NULL, 1))
    ASK(vxQueryTensor(tensor, VX_TENSOR_SCALE, NULL, 4))
    ASK(vxSetTensorAttribute(tensor, VX_TENSOR_RANK, NULL, 4))
    ASK(vxSetTensorAttribute(tensor, VX_TENSOR_SCALE, NULL, 4))
}

static void ask_null_memory(void)
{
    const vx_enum read = VX_READ_ONLY;
    const vx_enum host = VX_MEMORY_TYPE_HOST;
    ASK(vxCopyTensorPatch(tensor, 2, NULL, DIMS, STRIDES, buffer, read, host))
    ASK(vxCopyTensorPatch(tensor, 2, ZERO, NULL, STRIDES, buffer, read, host))
    ASK(vxCopyTensorPatch(tensor, 2, ZERO, DIMS, NULL, buffer, read, host))
    ASK(vxCopyTensorPatch(tensor, 2, ZERO, DIMS, STRIDES, NULL, read, host))
    ASK(vxMapTensorPatch(tensor, 2, ZERO, DIMS, NULL, strides, &memory, read, host))
    ASK(vxMapTensorPatch(tensor, 2, ZERO, DIMS, &map, NULL, &memory, read, host))
    ASK(vxMapTensorPatch(tensor, 2, ZERO, DIMS, &map, strides, NULL, read, host))
    ASK_OBJECT(vxCreateScalar(context, VX_TYPE_INT32, NULL))
    ASK(vxQueryScalar(scalar, VX_SCALAR_TYPE, NULL, 4))
    ASK(vxCopyScalar(scalar, NULL, read, host))
    ASK(vxCopyScalarWithSize(scalar, 4, NULL, read, host))
    ASK(vxReadScalarValue(scalar, NULL))
    ASK(vxWriteScalarValue(scalar, NULL))
    ASK(vxQueryArray(array, VX_ARRAY_NUMITEMS, NULL, sizeof(vx_size)))
    ASK(vxQueryArray(array, VX_ARRAY_ITEMTYPE, NULL, 4))
    ASK(vxQueryArray(array, VX_ARRAY_ITEMTYPE, NULL, 3))
    ASK(vxSetArrayAttribute(array, VX_ARRAY_NUMITEMS, NULL, sizeof(vx_size)))
    ASK(vxAddArrayItems(array, 1, NULL, 4))
    ASK(vxCopyArrayRange(array, 0, 1, 4, NULL, read, host))
    ASK(vxMapArrayRange(array, 0, 1, NULL, strides, &memory, read, host, 0))
    ASK(vxMapArrayRange(array, 0, 1, &map, NULL, &memory, read, host, 0))
    ASK(vxMapArrayRange(array, 0, 1, &map, strides, NULL, read, host, 0))
    ASK_OBJECT(vxCreateProgramWithBinary(context, NULL, 4))
}

int main(void)
{
    ask_tensors();
    ask_arrays_and_scalars();
    ask_graphs();
    ask_nodes();
    ask_null_objects();
    ask_null_data_objects();
    ask_null_values();
    ask_null_memory();
    return EXIT_SUCCESS;
}
