/* A row is a channel of an image; it has one scale and one bias. */
__kernel void instancenormalization_kernel(
    __global const float *input,
    __global const float *scale,
    __global const float *b,
    __global float *output,
    const int count, /* elements of a row */
    const int channels,
    const float epsilon,
    __local float *sums)
{
    const int row = (int)get_global_id(1);
    const int channel = row % channels;

    input += row * count;
    output += row * count;
    const float center = isfinite(input[0]) ? input[0] : 0.0f; /* near the mean */
    const float rest = mean_of(input, count, center, 0.0f, 0, sums);
    const float variance = mean_of(input, count, center, rest, 1, sums);
    const float factor = rsqrt(variance + epsilon) * scale[channel];

    for (int i = (int)get_local_id(0); i < count; i += (int)get_local_size(0)) {
        output[i] = ((input[i] - center) - rest) * factor + b[channel];
    }
}
