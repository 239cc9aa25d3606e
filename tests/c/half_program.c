/*
 * opkit/compute/half.h as a filter, on every processor:
 *
 *   half_program arrays|single|in_place to_floats|to_halves [flush] < input > output
 *
 * converts raw halves to raw floats or back: with the functions for arrays, with those for one
 * value, or with the arrays in the same memory. `flush` makes the processor flush subnormal floats
 * to zero. Fails if a byte past the result is written.
 *
 *   half_program uses_f16c
 *
 * prints yes or no.
 */
#include <opkit/compute/half.h>

#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static const char sentinel[64] = "what lies past the end of the result has to stay as it was";

static void flush_subnormals(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* results and operands */
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | 1u << 24));
#elif defined(__arm__)
    uint32_t control;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(control));
    __asm__ volatile("vmsr fpscr, %0" : : "r"(control | 1u << 24));
#endif
}

static int flushes_subnormals(void)
{
    volatile float value = 1.17549435e-38f; /* the smallest normal float */
    value = value * 0.5f;
    return value == 0;
}

static void single_halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        floats[i] = opkit_half_to_float(halves[i]);
    }
}

static void single_floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        halves[i] = opkit_float_to_half(floats[i]);
    }
}

static int uses_f16c(void)
{
#if defined(OPKIT_HALF_F16C)
    return opkit_has_f16c();
#else
    return 0;
#endif
}

static char *read_all(FILE *file, size_t *size)
{
    size_t capacity = 1 << 16;
    char *data = (char *)malloc(capacity);
    *size = 0;
    while (data != NULL && (*size += fread(data + *size, 1, capacity - *size, file)) == capacity) {
        capacity *= 2;
        data = (char *)realloc(data, capacity);
    }
    return data;
}

int main(int argument_count, char **arguments)
{
    if (argument_count == 2 && strcmp(arguments[1], "uses_f16c") == 0) {
        return fputs(uses_f16c() ? "yes" : "no", stdout) < 0;
    }
    if (argument_count < 3) {
        return 2;
    }
    const int to_floats = strcmp(arguments[2], "to_floats") == 0;
    size_t size;
    char *input = read_all(stdin, &size);
    const size_t count = size / (to_floats ? sizeof(uint16_t) : sizeof(float));
    const size_t result_size = count * (to_floats ? sizeof(float) : sizeof(uint16_t));
    /* In place, the array holds floats, as the operand or as the result. */
    const size_t capacity = arguments[1][0] == 'i' ? count * sizeof(float) : result_size;
    char *result = (char *)malloc(capacity + sizeof sentinel);

    if (input == NULL || result == NULL) {
        return 3;
    }
    memcpy(result + capacity, sentinel, sizeof sentinel);
    if (argument_count > 3) {
        flush_subnormals();
    }
    if (flushes_subnormals() != (argument_count > 3)) {
        return 4;
    }

    char *operand = input;
    if (arguments[1][0] == 'i') {
        operand = to_floats ? result + count * sizeof(uint16_t) : result;
        memcpy(operand, input, size);
    }
    if (to_floats) {
        (arguments[1][0] == 's' ? single_halves_to_floats : opkit_halves_to_floats)(
            (const uint16_t *)(void *)operand, (float *)(void *)result, count);
    } else {
        (arguments[1][0] == 's' ? single_floats_to_halves : opkit_floats_to_halves)(
            (const float *)(void *)operand, (uint16_t *)(void *)result, count);
    }

    if (memcmp(result + capacity, sentinel, sizeof sentinel) != 0) {
        return 5;
    }
    return fwrite(result, 1, result_size, stdout) == result_size && fflush(stdout) == 0 ? 0 : 6;
}
