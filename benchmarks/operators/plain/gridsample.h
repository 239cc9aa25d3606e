#include <math.h>

static float pixel(const struct opkit_tensor *x, size_t channel, int row, int column)
{
    const int rows = (int)x->shape[2], columns = (int)x->shape[3];

    if (row < 0 || row >= rows || column < 0 || column >= columns) {
        return 0.0F;
    }
    return x->float32[(channel * (size_t)rows + (size_t)row) * (size_t)columns + (size_t)column];
}

/* Bilinear, with zeros outside, and align_corners 0. */
static void plain(const struct gridsample_inputs *inputs, const struct gridsample_params *params,
                  const struct gridsample_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const size_t locations = inputs->grid.size / 2;

    (void)params;
    for (size_t channel = 0; channel < x->shape[1]; channel++) {
        for (size_t i = 0; i < locations; i++) {
            const float column =
                ((inputs->grid.float32[2 * i] + 1.0F) * (float)x->shape[3] - 1.0F) / 2.0F;
            const float row =
                ((inputs->grid.float32[2 * i + 1] + 1.0F) * (float)x->shape[2] - 1.0F) / 2.0F;
            const int left = (int)floorf(column), top = (int)floorf(row);
            const float right = column - (float)left, below = row - (float)top;

            outputs->y.float32[channel * locations + i] =
                (1.0F - below) * ((1.0F - right) * pixel(x, channel, top, left) +
                                  right * pixel(x, channel, top, left + 1)) +
                below * ((1.0F - right) * pixel(x, channel, top + 1, left) +
                         right * pixel(x, channel, top + 1, left + 1));
        }
    }
}
