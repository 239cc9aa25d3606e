/* bhqd,bhkd->bhqk */
static void plain(const struct einsum_inputs *inputs, const struct einsum_params *params,
                  const struct einsum_outputs *outputs)
{
    const size_t rows = inputs->input_0.shape[2], columns = inputs->input_1.shape[2];
    const size_t depth = inputs->input_0.shape[3];

    (void)params;
    for (size_t i = 0; i < outputs->output.size / columns; i++) {
        const float *left = inputs->input_0.float32 + i * depth;
        const float *right = inputs->input_1.float32 + i / rows * columns * depth;

        for (size_t column = 0; column < columns; column++) {
            float sum = 0.0F;

            for (size_t term = 0; term < depth; term++) {
                sum += left[term] * right[column * depth + term];
            }
            outputs->output.float32[i * columns + column] = sum;
        }
    }
}
