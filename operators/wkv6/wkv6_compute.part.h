/*
 * Steps the state by one position. Returns the receptance times the state before it, to which u
 * times the product of key and value is added.
 */
OPKIT_INLINE struct opkit_state_row wkv6_step(const struct wkv6_call *call, size_t place,
                                              size_t head, const struct opkit_state_row *value,
                                              struct opkit_state_row *state)
{
    const size_t keys = call->keys;
    const float *r = call->r + place * keys, *w = call->w + place * keys;
    const float *k = call->k + place * keys, *u = call->u + head * keys;
    float factors[OPKIT_STATE_ROWS];
    struct opkit_state_row sums;

    memset(&sums, 0, sizeof sums);
    for (size_t i = 0; i < keys; i++) {
        factors[i] = opkit_exp(w[i]);
    }
    for (size_t i = 0; i < keys; i++) {
        for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
            const opkit_state_vector product = k[i] * value->vectors[j];

            sums.vectors[j] += r[i] * (state[i].vectors[j] + u[i] * product);
            state[i].vectors[j] = factors[i] * state[i].vectors[j] + product;
        }
    }
    return sums;
}
