/* Steps the state by one position. Returns the receptance times the state behind it. */
OPKIT_INLINE struct opkit_state_row wkv7_step(const struct wkv7_call *call, size_t place,
                                              size_t head, const struct opkit_state_row *value,
                                              struct opkit_state_row *state)
{
    const size_t keys = call->keys;
    const float *r = call->r + place * keys, *w = call->w + place * keys;
    const float *k = call->k + place * keys, *b = call->b + place * keys;
    const struct opkit_state_row removed = opkit_state_read(call->a + place * keys, state, keys);
    float factors[OPKIT_STATE_ROWS];
    struct opkit_state_row sums;

    (void)head;
    memset(&sums, 0, sizeof sums);
    for (size_t i = 0; i < keys; i++) {
        factors[i] = opkit_exp(w[i]);
    }
    for (size_t i = 0; i < keys; i++) {
        for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
            const opkit_state_vector row = factors[i] * state[i].vectors[j] +
                                           b[i] * removed.vectors[j] + k[i] * value->vectors[j];

            sums.vectors[j] += r[i] * row;
            state[i].vectors[j] = row;
        }
    }
    return sums;
}
