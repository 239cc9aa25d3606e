/* The lower triangles. */
static void plain(const struct trilu_inputs *inputs, const struct trilu_params *params,
                  const struct trilu_outputs *outputs)
{
    const size_t rows = inputs->input.shape[1], columns = inputs->input.shape[2];

    (void)params;
    for (size_t i = 0; i < inputs->input.size; i++) {
        const size_t row = i / columns % rows;

        outputs->output.float32[i] = i % columns <= row ? inputs->input.float32[i] : 0.0F;
    }
}
