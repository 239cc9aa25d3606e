/*
 * Conversion between half (IEEE 754 binary16, stored in uint16_t) and float (binary32), and tables
 * of functions of one half.
 *
 * Results are correctly rounded: to nearest, ties to even. Subnormals, infinities and the sign of
 * zero are preserved. A NaN becomes quiet and keeps the upper bits of its payload.
 *
 * Arrays use the processor's instructions: F16C on x86-64 (detected at run time), FCVT on 64-bit
 * ARM, VCVT of NEON on 32-bit ARM, FCVT of Zfh on RISC-V if the compiler may emit it. Other
 * processors, and all with OPKIT_PORTABLE_HALF defined, run the portable code. It gives the same
 * bits, except that the NaN of RISC-V's instruction has no payload. All variants assume the default
 * rounding mode of a thread.
 *
 * Plain C11 and C++11. Only the RISC-V code uses a half type of the compiler, because not every
 * toolchain of the boards has one.
 */
#ifndef OPKIT_HALF_H
#define OPKIT_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "float_bits.h"

#if defined(OPKIT_PORTABLE_HALF)
#elif defined(__x86_64__)
#define OPKIT_HALF_F16C
#include <cpuid.h>
/* Without <immintrin.h>, which takes half of the time to compile a kernel. */
typedef short opkit_halves __attribute__((vector_size(16)));
typedef float opkit_floats __attribute__((vector_size(32)));
#elif defined(__aarch64__) || \
    (defined(__ARM_NEON) && defined(__ARM_FP16_FORMAT_IEEE) && (__ARM_FP & 2))
#define OPKIT_HALF_NEON
#include <arm_neon.h>
#elif defined(__riscv_zfh) || defined(__riscv_zfhmin)
#define OPKIT_HALF_ZFH
/* GCC has _Float16 since 13. XuanTie's older GCC has __fp16, as clang does. */
#if defined(__clang__) || __GNUC__ < 13
__extension__ typedef __fp16 opkit_half;
#else
__extension__ typedef _Float16 opkit_half;
#endif
#endif

/* Optimizes rarely executed functions for size. */
#if defined(__clang__)
#define OPKIT_SMALL __attribute__((minsize, noinline, unused)) static
#else
#define OPKIT_SMALL __attribute__((cold, noinline, unused)) static
#endif

/* Loops are never inlined: in a caller optimized for size they would be slow. */
#define OPKIT_LOOP __attribute__((noinline, hot, unused)) static
/* Hot only if the portable loop does most of the work; compilers vectorize it. */
#if defined(__riscv)
#define OPKIT_PORTABLE_LOOP OPKIT_LOOP
#else
#define OPKIT_PORTABLE_LOOP OPKIT_SMALL
#endif
#define OPKIT_F16C_LOOP __attribute__((target("avx,f16c"))) OPKIT_LOOP

/*
 * Converts a half to the float of the same value. The computation has no subnormal float, so the
 * result does not depend on a flush-to-zero mode of the processor.
 */
static inline float opkit_half_to_float(uint16_t half)
{
    const uint32_t rebias = (127u - 15u) << 23;
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7FFFu;
    uint32_t bits = (magnitude << 13) + rebias;

    if (magnitude < 0x0400) { /* zero or subnormal: a multiple of 2^-24 */
        bits = opkit_float_bits((float)(int32_t)magnitude / 16777216.0f);
    } else if (magnitude >= 0x7C00) { /* the largest exponent stays the largest */
        bits += rebias;
    }
    if (magnitude > 0x7C00) { /* NaN: quiet */
        bits |= 0x00400000u;
    }
    return opkit_float_from_bits(sign | bits);
}

/* Converts a float to the nearest half. */
static inline uint16_t opkit_float_to_half(float value)
{
    const uint32_t bits = opkit_float_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t half;

    if (magnitude > 0x7F800000u) { /* NaN: quiet */
        half = 0x7E00u | (magnitude >> 13 & 0x03FFu);
    } else if (magnitude >= (127u + 16u) << 23) { /* 2^16 and more */
        half = 0x7C00u;
    } else if (magnitude < (127u - 14u) << 23) {
        /* Below 2^-14 the last place is 2^-24, as it is for floats from 0.5 to 1. */
        half = opkit_float_bits(opkit_float_from_bits(magnitude) + 0.5f) - opkit_float_bits(0.5f);
    } else {
        /* Half a unit in the last place, minus 1, plus the last bit kept: ties go to even. */
        const uint32_t rounding = 0x0FFFu + (magnitude >> 13 & 1u);
        half = (magnitude - ((127u - 15u) << 23) + rounding) >> 13;
    }
    return (uint16_t)(sign | half);
}

#if defined(OPKIT_HALF_NEON)

/*
 * On 32-bit ARM, NEON returns the same default NaN for every NaN. Sign and payload come from the
 * operand there. (NEON also flushes subnormal floats to zero, but not subnormal halves.)
 */
static inline float32x4_t opkit_neon_to_floats(uint16x4_t halves)
{
    const float32x4_t floats = vcvt_f32_f16(vreinterpret_f16_u16(halves));
#if defined(__aarch64__)
    return floats;
#else
    const uint32x4_t is_number = vcageq_f32(floats, floats);
    /* The exponent of a NaN has all bits set, and so have the copies of a sign of 1. */
    const int32x4_t operand = vshll_n_s16(vreinterpret_s16_u16(halves), 13);
    const uint32x4_t nan = vbicq_u32(vreinterpretq_u32_s32(operand), is_number);
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(floats), nan));
#endif
}

static inline uint16x4_t opkit_neon_to_halves(float32x4_t floats)
{
    const uint16x4_t halves = vreinterpret_u16_f16(vcvt_f16_f32(floats));
#if defined(__aarch64__)
    return halves;
#else
    const uint16x4_t is_number = vmovn_u32(vcageq_f32(floats, floats));
    const uint32x4_t bits = vreinterpretq_u32_f32(floats);
    /* The sign, five bits of the exponent, ten of the payload. */
    const uint16x4_t operand = vsri_n_u16(vshrn_n_u32(bits, 16), vshrn_n_u32(bits, 12), 1);
    return vorr_u16(halves, vbic_u16(operand, is_number));
#endif
}

#elif defined(OPKIT_HALF_F16C)

/* Returns whether processor and system support F16C. Cached: cpuid is slow in virtual machines. */
OPKIT_SMALL int opkit_has_f16c(void)
{
    static int answer; /* 0: unknown; 1: no; 2: yes */
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == 0) {
        const unsigned needed = bit_F16C | bit_AVX | bit_OSXSAVE;
        unsigned a, b, c, d;
        __cpuid(1, a, b, c, d);
        known = 1;
        if ((c & needed) == needed) {
            /* The system must save both halves of the vector registers. */
            __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
            known += (a & 6) == 6;
        }
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known == 2;
}

/* Both convert only whole vectors, and return the number of converted elements. */

OPKIT_F16C_LOOP size_t opkit_f16c_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    const size_t whole = count & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        opkit_halves vector;
        memcpy(&vector, halves + i, sizeof vector);
        opkit_floats converted;
        __asm__("vcvtph2ps %1, %0" : "=x"(converted) : "x"(vector));
        memcpy(floats + i, &converted, sizeof converted);
    }
    return whole;
}

OPKIT_F16C_LOOP size_t opkit_f16c_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    const size_t whole = count & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        opkit_floats vector;
        memcpy(&vector, floats + i, sizeof vector);
        opkit_halves converted; /* to nearest */
        __asm__("vcvtps2ph $0, %1, %0" : "=x"(converted) : "x"(vector));
        memcpy(halves + i, &converted, sizeof converted);
    }
    return whole;
}

#endif

/*
 * Converts `count` halves to floats. The halves may be stored at the end of the floats' memory
 * (halves == (uint16_t *)floats + count); any other overlap is undefined.
 */
#if defined(OPKIT_HALF_NEON)
OPKIT_LOOP void opkit_halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    /* Two vectors at a time: in-order processors stall on a result of the previous instruction. */
    for (; count >= 8; count -= 8, halves += 8, floats += 8) {
        const uint16x8_t vector = vld1q_u16(halves);
        const float32x4_t low = opkit_neon_to_floats(vget_low_u16(vector));
        const float32x4_t high = opkit_neon_to_floats(vget_high_u16(vector));
        vst1q_f32(floats, low);
        vst1q_f32(floats + 4, high);
    }
    for (; count > 0; count--, halves++, floats++) {
        vst1q_lane_f32(floats, opkit_neon_to_floats(vld1_dup_u16(halves)), 0);
    }
}
#elif defined(OPKIT_HALF_ZFH)
OPKIT_LOOP void opkit_halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        opkit_half half;
        memcpy(&half, halves + i, sizeof half);
        const float value = (float)half;
        memcpy(floats + i, &value, sizeof value);
    }
}
#else
OPKIT_PORTABLE_LOOP void opkit_halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    size_t i = 0;
#if defined(OPKIT_HALF_F16C)
    if (opkit_has_f16c()) {
        i = opkit_f16c_to_floats(halves, floats, count);
    }
#endif
    for (; i < count; i++) {
        const float value = opkit_half_to_float(halves[i]);
        memcpy(floats + i, &value, sizeof value);
    }
}
#endif

/*
 * Converts `count` floats to halves. The halves may be stored at the start of the floats' memory
 * (halves == (uint16_t *)floats); any other overlap is undefined.
 */
#if defined(OPKIT_HALF_NEON)
OPKIT_LOOP void opkit_floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    for (; count >= 8; count -= 8, halves += 8, floats += 8) {
        const uint16x4_t low = opkit_neon_to_halves(vld1q_f32(floats));
        const uint16x4_t high = opkit_neon_to_halves(vld1q_f32(floats + 4));
        vst1q_u16(halves, vcombine_u16(low, high));
    }
    for (; count > 0; count--, halves++, floats++) {
        vst1_lane_u16(halves, opkit_neon_to_halves(vld1q_dup_f32(floats)), 0);
    }
}
#elif defined(OPKIT_HALF_ZFH)
OPKIT_LOOP void opkit_floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, floats + i, sizeof value);
        const opkit_half half = (opkit_half)value;
        memcpy(halves + i, &half, sizeof half);
    }
}
#else
OPKIT_PORTABLE_LOOP void opkit_floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    size_t i = 0;
#if defined(OPKIT_HALF_F16C)
    if (opkit_has_f16c()) {
        i = opkit_f16c_to_halves(floats, halves, count);
    }
#endif
    for (; i < count; i++) {
        float value;
        memcpy(&value, floats + i, sizeof value);
        halves[i] = opkit_float_to_half(value);
    }
}
#endif

/* ---- Functions of one half as a table: every half is an index ---- */

#define OPKIT_HALF_TABLE_SIZE 65536 /* entries: 128 KB */

/*
 * The results of a function with some params: one table for all nodes of the process that compute
 * this function with these params. A copy of the params is behind the struct.
 */
struct opkit_half_results {
    struct opkit_half_list *list; /* that has it */
    struct opkit_half_results *next;
    size_t users; /* nodes */
    void (*function)(const void *, size_t, size_t);
    size_t params_size;
    uint16_t table[OPKIT_HALF_TABLE_SIZE];
};

/* A node's use of a table: tabulate.h. Initialize it with zeros. */
struct opkit_half_table {
    struct opkit_half_results *results; /* NULL: none */
    size_t computed; /* elements that were computed without it */
};

/* Tables. They have a lock, because nodes of several graphs may run at the same time. */
struct opkit_half_list {
    bool is_locked;
    struct opkit_half_results *first;
};

static struct opkit_half_list opkit_half_tables; /* all tables of this source's functions */

/* The lock is held for a few instructions: filling a table is not among them. */
static inline void opkit_lock_half_list(struct opkit_half_list *list)
{
    while (__atomic_test_and_set(&list->is_locked, __ATOMIC_ACQUIRE)) {
    }
}

static inline void opkit_unlock_half_list(struct opkit_half_list *list)
{
    __atomic_clear(&list->is_locked, __ATOMIC_RELEASE);
}

/* Returns whether results are those of a function with some params. */
static inline bool opkit_are_results_of(const struct opkit_half_results *results,
                                        void (*function)(const void *, size_t, size_t),
                                        const void *params, size_t params_size)
{
    return results->function == function && results->params_size == params_size &&
           memcmp(results + 1, params, params_size) == 0;
}

/* Returns the table of a function with some params, which gets a user, or NULL. */
OPKIT_SMALL struct opkit_half_results *
opkit_use_half_results(void (*function)(const void *, size_t, size_t), const void *params,
                       size_t params_size)
{
    opkit_lock_half_list(&opkit_half_tables);
    struct opkit_half_results *found = opkit_half_tables.first;
    while (found != NULL && !opkit_are_results_of(found, function, params, params_size)) {
        found = found->next;
    }
    if (found != NULL) {
        found->users++;
    }
    opkit_unlock_half_list(&opkit_half_tables);
    return found;
}

/* Adds a filled table with one user. Nodes that fill equal tables at the same time keep both. */
OPKIT_SMALL void opkit_share_half_results(struct opkit_half_results *results)
{
    opkit_lock_half_list(&opkit_half_tables);
    results->list = &opkit_half_tables;
    results->users = 1;
    results->next = opkit_half_tables.first;
    opkit_half_tables.first = results;
    opkit_unlock_half_list(&opkit_half_tables);
}

/* Ends a node's use of its table. Returns the table, to be freed, if this was the last use. */
OPKIT_SMALL struct opkit_half_results *opkit_leave_half_results(struct opkit_half_table *table)
{
    struct opkit_half_results *results = table->results;

    table->results = NULL;
    table->computed = 0;
    if (results == NULL) {
        return NULL;
    }
    struct opkit_half_list *list = results->list;
    opkit_lock_half_list(list);
    const bool is_unused = --results->users == 0;
    if (is_unused) {
        struct opkit_half_results **link = &list->first;
        while (*link != results) {
            link = &(*link)->next;
        }
        *link = results->next;
    }
    opkit_unlock_half_list(list);
    return is_unused ? results : NULL;
}

static inline void opkit_release_half_table(struct opkit_half_table *table)
{
    free(opkit_leave_half_results(table));
}

/*
 * Sets y[i] to table[x[i]] for `count` halves, given and returned as their bits. `x` and `y` may be
 * the same array; any other overlap is undefined.
 *
 * Pairs of halves save more than half of the loads and stores, which bound the time. They are in
 * the same order in x and y, so the processor's byte order does not matter.
 */
OPKIT_LOOP void opkit_look_up_halves(const uint16_t *table, const uint16_t *x, uint16_t *y,
                                     size_t count)
{
    uint32_t pairs[4];
    const size_t block = 2 * sizeof pairs / sizeof pairs[0];
    size_t i = 0;

    for (; count - i >= block; i += block) {
        memcpy(pairs, x + i, sizeof pairs);
        for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
            pairs[k] = table[pairs[k] & 0xFFFFU] | (uint32_t)table[pairs[k] >> 16] << 16;
        }
        memcpy(y + i, pairs, sizeof pairs);
    }
    for (; i < count; i++) {
        y[i] = table[x[i]];
    }
}

#endif
