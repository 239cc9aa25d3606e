/* Returns the bits of one, but not both. */
static inline uint32_t bitwisexor_of(uint32_t a, uint32_t b)
{
    return a ^ b;
}
