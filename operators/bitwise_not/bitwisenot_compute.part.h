/* Returns the bits that x does not have. */
static inline uint32_t bitwisenot_of(uint32_t x)
{
    return ~x;
}
