#include <math.h>

static void plain(const struct layernormalization_inputs *inputs,
                  const struct layernormalization_params *params,
                  const struct layernormalization_outputs *outputs)
{
    const size_t count = inputs->scale.size;

    for (size_t row = 0; row < inputs->x.size / count; row++) {
        const float *x = inputs->x.float32 + row * count;
        float *y = outputs->y.float32 + row * count;
        float sum = 0.0F, squares = 0.0F;

        for (size_t i = 0; i < count; i++) {
            sum += x[i];
        }
        const float mean = sum / (float)count;
        for (size_t i = 0; i < count; i++) {
            squares += (x[i] - mean) * (x[i] - mean);
        }
        const float inverse = 1.0F / sqrtf(squares / (float)count + params->epsilon);
        for (size_t i = 0; i < count; i++) {
            y[i] = (x[i] - mean) * inverse * inputs->scale.float32[i] + inputs->b.float32[i];
        }
        outputs->mean.float32[row] = mean;
        outputs->invstddev.float32[row] = inverse;
    }
}
