#include <math.h>

static void plain(const struct softsign_inputs *inputs, const struct softsign_params *params,
                  const struct softsign_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < inputs->input.size; i++) {
        const float x = inputs->input.float32[i];

        outputs->output.float32[i] = x / (1.0F + fabsf(x));
    }
}
