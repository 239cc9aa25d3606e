#include <math.h>

static void plain(const struct exp_inputs *inputs, const struct exp_params *params,
                  const struct exp_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < inputs->input.size; i++) {
        const float x = inputs->input.float32[i];

        outputs->output.float32[i] = expf(x);
    }
}
