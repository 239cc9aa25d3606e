/* Kernels of tests/runtimes/rknn2/test_opencl_wrong.py, each with one error; its line ends so. */

__kernel void beyond(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = x[i + 1]; /* beyond */
}

__kernel void before(__global const float *x, __global float *y)
{
    int i = get_global_id(0);
    y[i - 1] = x[i]; /* before */
}

__kernel void row(__global const float *x, __global float *y, int columns)
{
    int i = get_global_id(0) + columns * get_global_id(1);
    y[i] = x[i] + x[i + columns]; /* row */
}

__kernel void wrap(__global const float *x, __global float *y)
{
    uint i = get_global_id(0);
    y[i] = x[i - 1]; /* wrap */
}

__kernel void missing(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    if (i < get_global_size(0) - 2) {
        y[i] = x[i];
    }
}

__kernel void unset(__global const float *x, __global float *scratch, __global float *y)
{
    size_t i = get_global_id(0);
    if (i != 3) {
        scratch[i] = x[i];
    }
    y[i] = scratch[i]; /* unset */
}

__kernel void unset_local(__global const float *x, __global float *y)
{
    __local float part[16];
    int i = get_local_id(0);

    if (i != 5) {
        part[i] = x[get_global_id(0)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = part[15 - i]; /* unset_local */
}

__kernel void unset_argument(__global const float *x, __global float *y, __local float *part)
{
    int i = get_local_id(0);

    part[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = part[i + 1]; /* unset_argument */
}

__kernel void branch(__global const float *x, __global float *y, __local float *part)
{
    int i = get_local_id(0);

    part[i] = x[get_global_id(0)];
    if (i < 8) {
        barrier(CLK_LOCAL_MEM_FENCE); /* branch */
    }
    y[get_global_id(0)] = part[i];
}

__kernel void branches(__global const float *x, __global float *y, __local float *part)
{
    int i = get_local_id(0);

    part[i] = x[get_global_id(0)];
    if (i < 8) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        barrier(CLK_LOCAL_MEM_FENCE); /* branches */
    }
    y[get_global_id(0)] = part[i];
}

__kernel void unordered(__global const float *x, __global float *y, __local float *part)
{
    int i = get_local_id(0);

    part[i] = x[get_global_id(0)];
    y[get_global_id(0)] = part[15 - i]; /* unordered */
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The sum needs a second barrier. */
__kernel void overtaken(__global const float *x, __global float *y, __local float *part)
{
    int i = get_local_id(0);

    part[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float other = part[15 - i]; /* overtaken */
    part[i] = other;
    y[get_global_id(0)] = other;
}

/* A fence for local memory orders nothing else. */
__kernel void fence(__global const float *x, __global float *scratch, __global float *y)
{
    int i = get_local_id(0), first = get_group_id(0) * 16;

    scratch[first + i] = x[first + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[first + i] = scratch[first + 15 - i]; /* fence */
}

__kernel void accumulate(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] += x[i]; /* accumulate */
}

__kernel void same(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = x[i];
    y[0] = x[i]; /* same */
}

/* Items of other groups have no order, whatever barriers there are. */
__kernel void groups(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = x[i]; /* groups */
    barrier(CLK_GLOBAL_MEM_FENCE);
    float other = y[get_global_size(0) - 1 - i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (other > 100.0f) {
        y[i] = other;
    }
}

__kernel void in_place(__global const float *x, __global float *scratch, __global float *y)
{
    size_t i = get_global_id(0);
    scratch[i] = x[i];
    y[i] = i > 0 ? scratch[i - 1] : 0.0f; /* in_place */
}

__kernel void private_array(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    float part[4] = {x[i], x[i], x[i], x[i]};
    y[i] = part[(int)(i % 5)]; /* private_array */
}

__kernel void local_array(__global const float *x, __global float *y)
{
    __local float part[16];
    __local float *next = part + 1;
    int i = get_local_id(0);
    next[i] = x[get_global_id(0)]; /* local_array */
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = x[get_global_id(0)];
}

__kernel void null(__global const float *x, __global const float *bias, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = x[i] + bias[i]; /* null */
}

__kernel void constant_input(__global float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = x[i];
    x[i] = 0.0f; /* constant_input */
}

__kernel void overflow(__global const int *x, __global int *y)
{
    size_t i = get_global_id(0);
    y[i] = x[i] * 0x40000000; /* overflow */
}

__kernel void cast(__global const float *x, __global int *y)
{
    size_t i = get_global_id(0);
    y[i] = (int)(x[i] * 1e30f); /* cast */
}

__kernel void not_waited(__global const float *x, __global float *y, __local float *part)
{
    size_t i = get_global_id(0);
    event_t copied = async_work_group_copy(part, x, 4, 0);
    y[i] = x[i];
}

__kernel void by_zero(__global const int *x, __global int *y)
{
    size_t i = get_global_id(0);
    y[i] = 10 / x[i];
}

__kernel void integers(__global const float *x, __global int *y)
{
    y[get_global_id(0)] = convert_int_rte(x[get_global_id(0)]);
}

__kernel void halves(__global const float *x, __global half *y)
{
    vstore_half(x[get_global_id(0)], get_global_id(0), y);
}

__kernel void right(__global const float *x, __global float *y)
{
    y[get_global_id(0)] = x[get_global_id(0)];
}
