/* opkit/half.h as a shared library, and a switch that makes the processor flush subnormal floats to zero. */
#include <opkit/half.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

void halves_to_floats(const uint16_t *halves, float *floats, size_t count);
void floats_to_halves(const float *floats, uint16_t *halves, size_t count);
void single_halves_to_floats(const uint16_t *halves, float *floats, size_t count);
void single_floats_to_halves(const float *floats, uint16_t *halves, size_t count);
float flush_subnormals(int on, float value);

void halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    opkit_halves_to_floats(halves, floats, count);
}

void floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    opkit_floats_to_halves(floats, halves, count);
}

void single_halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        floats[i] = opkit_half_to_float(halves[i]);
    }
}

void single_floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        halves[i] = opkit_float_to_half(floats[i]);
    }
}

/* Turns flushing on or off, and returns half of a value, computed with it. */
float flush_subnormals(int on, float value)
{
    volatile float result = value;
#if defined(__x86_64__)
    const unsigned flush = 0x8040; /* subnormal results and operands */
    _mm_setcsr(on ? _mm_getcsr() | flush : _mm_getcsr() & ~flush);
#elif defined(__aarch64__)
    const uint64_t flush = 1u << 24;
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = on ? control | flush : control & ~flush;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    (void)on;
#endif
    result = result * 0.5f;
    return result;
}
