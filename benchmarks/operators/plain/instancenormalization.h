#include <math.h>

static void plain(const struct instancenormalization_inputs *inputs,
                  const struct instancenormalization_params *params,
                  const struct instancenormalization_outputs *outputs)
{
    const size_t channels = inputs->input.shape[1];
    const size_t count = inputs->input.shape[2] * inputs->input.shape[3];

    for (size_t row = 0; row < inputs->input.size / count; row++) {
        const float *x = inputs->input.float32 + row * count;
        float *y = outputs->output.float32 + row * count;
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
            y[i] = (x[i] - mean) * inverse * inputs->scale.float32[row % channels] +
                   inputs->b.float32[row % channels];
        }
    }
}
