#include <math.h>

static void plain(const struct gelu_inputs *inputs, const struct gelu_params *params,
                  const struct gelu_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < inputs->x.size; i++) {
        const float x = inputs->x.float32[i];

        outputs->y.float32[i] = 0.5F * x * (1.0F + erff(x * 0.707106781F));
    }
}
