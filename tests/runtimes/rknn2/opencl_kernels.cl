/* Kernels of tests/runtimes/rknn2/test_opencl_emulator.py: right ones. */

__kernel void add(__global const float *a, __global const float *b, __global float *y, float scale)
{
    size_t i = get_global_id(0);
    y[i] = a[i] + b[i] * scale;
}

/* The mean of a square around each element, without those outside. */
__kernel void resize(__global const float *x, __global float *y, int rows, int columns)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    int count = 0;

    for (int i = max(row - 1, 0); i <= min(row + 1, rows - 1); i++) {
        for (int j = max(column - 1, 0); j <= min(column + 1, columns - 1); j++) {
            sum += x[i * columns + j];
            count++;
        }
    }
    y[row * columns + column] = sum / count;
}

/* The sums of groups. */
__kernel void reduce(__global const float *x, __global float *y, __local float *part)
{
    uint local_id = get_local_id(0);

    part[local_id] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (local_id < step) {
            part[local_id] += part[local_id + step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (local_id == 0) {
        y[get_group_id(0)] = part[0];
    }
}

/* Each group turned around, by way of a variable in local memory. */
__attribute__((reqd_work_group_size(8, 1, 1))) __kernel void turn(__global const int *x,
                                                                  __global int *y)
{
    __local int copy[8];
    int i = get_local_id(0);

    copy[7 - i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = copy[i];
}

__kernel void divide(__global const int *x, __global int *quotient, __global uint *rest, uint by,
                     __constant int *shift)
{
    size_t i = get_global_id(0);

    quotient[i] = x[i] / (int)by + shift[0];
    rest[i] = (uint)x[i] % by;
}

/* Prefix sums of rows by one work item each, in a buffer of its own. */
__kernel void cumulate(__global const float *x, __global float *scratch, __global float *y, int n)
{
    size_t row = get_global_id(0) * n;

    for (int i = 0; i < n; i++) {
        scratch[row + i] = x[row + i] + (i > 0 ? scratch[row + i - 1] : 0.0f);
    }
    for (int i = 0; i < n; i++) {
        y[row + i] = scratch[row + i];
    }
}

/* The neighbors in a group, by way of global memory. */
__kernel void neighbors(__global const float *x, __global float *scratch, __global float *y)
{
    size_t i = get_global_id(0), first = i - get_local_id(0);

    scratch[i] = x[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    y[i] = scratch[first + (get_local_id(0) + 1) % get_local_size(0)];
}

/* Histograms need atomic operations. */
__kernel void count(__global const int *x, __global int *y)
{
    atomic_inc(&y[x[get_global_id(0)]]);
}

__kernel void vectors(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    float4 value = vload4(i, x);

    vstore4(value.wzyx * (float4)(1.0f, 2.0f, 3.0f, 4.0f) + dot(value, value), i, y);
}

/* Blocks by copies of a whole group. */
__kernel void blocks(__global const float *x, __global float *y, __local float *block)
{
    event_t copied = async_work_group_copy(block, x + get_group_id(0) * 4, 4, 0);
    wait_group_events(1, &copied);
    y[get_global_id(0)] = block[3 - get_local_id(0)];
}
