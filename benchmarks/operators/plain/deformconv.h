#include <math.h>

static float pixel(const struct opkit_tensor *x, size_t channel, int row, int column)
{
    const int rows = (int)x->shape[2], columns = (int)x->shape[3];

    if (row < 0 || row >= rows || column < 0 || column >= columns) {
        return 0.0F;
    }
    return x->float32[(channel * (size_t)rows + (size_t)row) * (size_t)columns + (size_t)column];
}

static float sample(const struct opkit_tensor *x, size_t channel, float row, float column)
{
    const int left = (int)floorf(column), top = (int)floorf(row);
    const float right = column - (float)left, below = row - (float)top;

    return (1.0F - below) * ((1.0F - right) * pixel(x, channel, top, left) +
                             right * pixel(x, channel, top, left + 1)) +
           below * ((1.0F - right) * pixel(x, channel, top + 1, left) +
                    right * pixel(x, channel, top + 1, left + 1));
}

/* One group, pads of 1, strides and dilations of 1. The samples of a location are found once. */
static void plain(const struct deformconv_inputs *inputs, const struct deformconv_params *params,
                  const struct deformconv_outputs *outputs)
{
    const size_t channels = inputs->x.shape[1], kernels = inputs->w.shape[0];
    const size_t height = inputs->w.shape[2], width = inputs->w.shape[3];
    const size_t columns = outputs->y.shape[3], locations = outputs->y.shape[2] * columns;
    const size_t depth = channels * height * width;
    static float samples[65536];

    (void)params;
    for (size_t i = 0; i < locations; i++) {
        for (size_t term = 0; term < depth; term++) {
            const size_t element = term % (height * width);
            const float *offset = inputs->offset.float32 + 2 * element * locations + i;
            const float row = (float)(i / columns + element / width) - 1.0F + offset[0];
            const float column = (float)(i % columns + element % width) - 1.0F + offset[locations];

            samples[term] = sample(&inputs->x, term / (height * width), row, column) *
                            inputs->mask.float32[element * locations + i];
        }
        for (size_t kernel = 0; kernel < kernels; kernel++) {
            float sum = inputs->b.float32[kernel];

            for (size_t term = 0; term < depth; term++) {
                sum += samples[term] * inputs->w.float32[kernel * depth + term];
            }
            outputs->y.float32[kernel * locations + i] = sum;
        }
    }
}
