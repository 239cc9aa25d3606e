#include <math.h>

static void plain(const struct acos_inputs *inputs, const struct acos_params *params,
                  const struct acos_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < inputs->input.size; i++) {
        const float x = inputs->input.float32[i];

        outputs->output.float32[i] = acosf(x);
    }
}
