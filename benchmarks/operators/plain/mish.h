#include <math.h>

static void plain(const struct mish_inputs *inputs, const struct mish_params *params,
                  const struct mish_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < inputs->x.size; i++) {
        const float x = inputs->x.float32[i];

        outputs->y.float32[i] = x * tanhf(log1pf(expf(x)));
    }
}
