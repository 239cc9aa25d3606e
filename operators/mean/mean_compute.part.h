/*
 * Returns the mean of two floats, rounded once: their sum halved, or, if that overflows, the sum of
 * their halves.
 */
static inline float mean_of_two(float a, float b)
{
    const float sum = a + b;
    const float halves = 0.5F * a + 0.5F * b;

    return sum - sum == 0.0F ? 0.5F * sum : halves;
}

/* Returns the mean of the elements at a place of all inputs, rounded once. */
static inline float mean_of_all(const float *const *data, size_t place)
{
    double total = (double)data[0][place];

    for (size_t input = 1; input < MEAN_INPUTS; input++) {
        total += (double)data[input][place];
    }
    return (float)(total / MEAN_INPUTS);
}

/* Computes means of two, without conversions to double, which take most of the time. */
OPKIT_ELEMENT_LOOP void mean_pairs(const float *a, const float *b, float *mean, size_t count)
{
    uint32_t exceptions = 0; /* in the first bit: a sum is infinite or NaN */

    for (size_t i = 0; i < count; i++) {
        const float sum = a[i] + b[i];

        mean[i] = 0.5F * sum;
        exceptions |= (opkit_float_bits(sum) & 0x7FFFFFFFU) + 0x00800000U;
    }
    for (size_t i = 0; i < count && exceptions >> 31 != 0U; i++) {
        mean[i] = mean_of_two(a[i], b[i]);
    }
}

/* Computes a block from the elements of each input in a row. */
OPKIT_ELEMENT_LOOP void mean_block(const float *const *data, float *mean, size_t count)
{
    if (MEAN_INPUTS == 2) {
        mean_pairs(data[0], data[MEAN_INPUTS - 1], mean, count);
    } else {
        for (size_t i = 0; i < count; i++) {
            mean[i] = mean_of_all(data, i);
        }
    }
}
