static void plain(const struct mean_inputs *inputs, const struct mean_params *params,
                  const struct mean_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < outputs->mean.size; i++) {
        outputs->mean.float32[i] = (inputs->data_0.float32[i] + inputs->data_1.float32[i]) / 2.0F;
    }
}
