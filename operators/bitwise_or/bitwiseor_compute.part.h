/* Returns the bits of one or both. */
static inline uint32_t bitwiseor_of(uint32_t a, uint32_t b)
{
    return a | b;
}
