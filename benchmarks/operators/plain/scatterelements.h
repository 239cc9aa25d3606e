static void plain(const struct scatterelements_inputs *inputs,
                  const struct scatterelements_params *params,
                  const struct scatterelements_outputs *outputs)
{
    const size_t rows = inputs->data.shape[0], columns = inputs->data.shape[1];

    (void)params;
    for (size_t i = 0; i < inputs->data.size; i++) {
        outputs->output.float32[i] = inputs->data.float32[i];
    }
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns; column++) {
            int64_t index = inputs->indices.int64[row * columns + column];

            if (index < 0) {
                index += (int64_t)columns;
            }
            outputs->output.float32[row * columns + (size_t)index] =
                inputs->updates.float32[row * columns + column];
        }
    }
}
