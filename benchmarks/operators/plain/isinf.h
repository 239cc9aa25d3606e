#include <math.h>

static void plain(const struct isinf_inputs *inputs, const struct isinf_params *params,
                  const struct isinf_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < inputs->x.size; i++) {
        const float x = inputs->x.float32[i];

        outputs->y.uint8[i] = isinf(x) != 0;
    }
}
