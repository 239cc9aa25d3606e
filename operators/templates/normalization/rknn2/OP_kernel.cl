/*
 * {{ spec.name }} on the GPU, in OpenCL C 1.2: one work group for each row, the elements with
 * statistics of their own.
 *
 * A work group is some work items that run side by side and share local memory: 64, by
 * {{ lower }}_gpu.h. With n of them, item i has the elements i, i + n, i + 2n, ... of
 * the row, so that neighbors read neighboring elements at the same time. A barrier waits for all
 * items of the group: what they wrote into local memory before it can be read behind it. So all
 * items must reach each barrier, also those that have no elements.
 *
 * The arguments are inputs and outputs, then what {{ lower }}_gpu.h adds.
 */

/*
 * Returns the sum of a number of each work item of the group, to all of them. In each step, the
 * second half of the numbers is added to the first one.
 *
 *   sums    local memory: a number for each item
 */
float sum_of_group(float number, __local float *sums)
{
    const int item = (int)get_local_id(0);

    sums[item] = number;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int count = (int)get_local_size(0); count > 1; count = (count + 1) / 2) {
        if (item < count / 2) {
            sums[item] += sums[item + (count + 1) / 2];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float sum = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE); /* before the next sum overwrites it */
    return sum;
}

/*
 * Returns the mean of a row's differences from center + rest, or of their squares; of no elements,
 * NaN. A float is too coarse for the mean of large numbers, so it has two parts.
 */
float mean_of(__global const float *row, int count, float center, float rest, int are_squares,
              __local float *sums)
{
    float sum = 0.0f;

    for (int i = (int)get_local_id(0); i < count; i += (int)get_local_size(0)) {
        const float difference = (row[i] - center) - rest;
        sum += are_squares ? difference * difference : difference;
    }
    return sum_of_group(sum, sums) / (float)count;
}

{{ own }}
