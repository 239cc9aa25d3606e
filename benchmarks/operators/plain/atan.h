#include <math.h>

static void plain(const struct atan_inputs *inputs, const struct atan_params *params,
                  const struct atan_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < inputs->input.size; i++) {
        const float x = inputs->input.float32[i];

        outputs->output.float32[i] = atanf(x);
    }
}
