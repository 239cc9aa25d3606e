/* A row has the dimensions from axis on; each of its elements has a scale. */
__kernel void rmsnormalization_kernel(
    __global const float *x,
    __global const float *scale,
    __global float *y,
    const int count, /* elements of a row */
    const float epsilon,
    __local float *sums)
{
    const int row = (int)get_global_id(1);

    x += row * count;
    y += row * count;
    const float factor = rsqrt(mean_of(x, count, 0.0f, 0.0f, 1, sums) + epsilon);

    for (int i = (int)get_local_id(0); i < count; i += (int)get_local_size(0)) {
        y[i] = x[i] * factor * scale[i];
    }
}
