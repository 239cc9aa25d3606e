/* Kernels as operators have them, for tests/runtimes/rknn2/test_opencl_shim.py. */
#define ROUND 1
typedef struct {
    int height, width;
    float scale;
} shape_t;
enum mode {
    NEAREST,
    LINEAR
};
__constant float table[4] = {0.25f, 0.5f, 0.75f, 1.0f};
__constant int offsets[2][2] = {{0, 1}, {2, 3}};

inline float load(__global const float *restrict x, int row, int column, shape_t shape)
{
    bool is_inside = row >= 0 && row < shape.height && column >= 0 && column < shape.width;
    return is_inside ? x[mad24(row, shape.width, column)] : 0.0f;
}

static float linear(__global const float *x, float y_at, float x_at, shape_t shape);

static float linear(__global const float *x, float y_at, float x_at, shape_t shape)
{
    float2 at = floor((float2)(x_at, y_at));
    float2 rest = (float2)(x_at, y_at) - at;
    int column = convert_int_rtz(at.x), row = (int)at.y;
    float top = mix(load(x, row, column, shape), load(x, row, column + 1, shape), rest.x);
    float bottom =
        mix(load(x, row + 1, column, shape), load(x, row + 1, column + 1, shape), rest.x);
    return mix(top, bottom, rest.y);
}

float activate(float v)
{
    return 0.5f * v * (1.0f + erf(v * M_SQRT1_2_F)) + native_exp(-fabs(v)) * tanh(v);
}

__kernel void sample(__global const float *restrict x, __global const float2 *grid,
                     __global float *restrict y, const int height, const int width, float scale,
                     uint mode)
{
    const shape_t shape = {height, width, scale};
    const size_t index = get_global_id(1) * get_global_size(0) + get_global_id(0);
    const float2 at = grid[index];
    float value;

    switch (mode) {
    case NEAREST:
        value = load(x, (int)rint(at.y), (int)rint(at.x), shape);
        break;
    default:
        value = linear(x, at.y, at.x, shape);
    }
    for (int i = 0; i < 4; i++) {
        value += table[i] * (float)offsets[i / 2][i % 2] * 0.0f;
    }
#if ROUND
    value = round(value * 1024.0f) / 1024.0f;
#endif
    y[index] = isnan(value) ? 0.0f : activate(value) * shape.scale;
}

/* softmax of rows, each by a group */
__kernel __attribute__((work_group_size_hint(16, 1, 1))) void
soft(__global const float *x, __global float *y, __local float *part, uint n)
{
    uint id = get_local_id(0), items = get_local_size(0);
    __global const float *row = x + get_group_id(0) * n;
    float highest = -INFINITY;
    for (uint i = id; i < n; i += items)
        highest = fmax(highest, row[i]);
    part[id] = highest;
    for (uint step = items >> 1; step; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < step)
            part[id] = max(part[id], part[id + step]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    highest = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (uint i = id; i < n; i += items)
        sum += exp(row[i] - highest);
    part[id] = sum;
    for (uint step = items >> 1; step; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < step)
            part[id] += part[id + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = id; i < n; i += items)
        y[get_group_id(0) * n + i] = exp(row[i] - highest) / part[0];
}
