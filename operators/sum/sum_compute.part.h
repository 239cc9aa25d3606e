/* Computes a block from the elements of each input in a row. Sums are in double: rounded once. */
OPKIT_ELEMENT_LOOP void sum_block(const float *const *data, float *sum, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double total = (double)data[0][i];

        for (size_t input = 1; input < SUM_INPUTS; input++) {
            total += (double)data[input][i];
        }
        sum[i] = (float)total;
    }
}
