/* Returns the bits of both. */
static inline uint32_t bitwiseand_of(uint32_t a, uint32_t b)
{
    return a & b;
}
