/* Inserts each element into the sorted best ones. */
static void plain(const struct topk_inputs *inputs, const struct topk_params *params,
                  const struct topk_outputs *outputs)
{
    const size_t k = (size_t)params->k;
    float *values = outputs->values.float32;
    int64_t *indices = outputs->indices.int64;
    size_t count = 0;

    for (size_t i = 0; i < inputs->x.size; i++) {
        const float x = inputs->x.float32[i];
        size_t place;

        if (count == k && x <= values[k - 1]) {
            continue;
        }
        count += count < k;
        for (place = count - 1; place > 0 && values[place - 1] < x; place--) {
            values[place] = values[place - 1];
            indices[place] = indices[place - 1];
        }
        values[place] = x;
        indices[place] = (int64_t)i;
    }
}
