static void plain(const struct cumsum_inputs *inputs, const struct cumsum_params *params,
                  const struct cumsum_outputs *outputs)
{
    const size_t rows = inputs->x.shape[1], columns = inputs->x.shape[2];

    (void)params;
    for (size_t i = 0; i < inputs->x.shape[0]; i++) {
        for (size_t column = 0; column < columns; column++) {
            float sum = 0.0F;

            for (size_t row = 0; row < rows; row++) {
                const size_t place = (i * rows + row) * columns + column;

                sum += inputs->x.float32[place];
                outputs->y.float32[place] = sum;
            }
        }
    }
}
