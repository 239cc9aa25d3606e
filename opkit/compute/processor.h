/*
 * Fused arithmetic; and instructions of this processor beyond what the compiler may assume, which
 * OPKIT_BASELINE turns off: vectors of AVX2 and AVX-512, dot products of bytes, and arithmetic of
 * halves. OPKIT_NO_AVX512 turns off AVX-512 alone.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_PROCESSOR_H
#define OPKIT_PROCESSOR_H

/*
 * At the start of a block: clang fuses its multiplications and additions where the processor can,
 * whatever the flags say. The last bit of a result may differ between processors.
 */
#if defined(__clang__)
#define OPKIT_FUSED _Pragma("STDC FP_CONTRACT ON")
#else /* GCC does not know the pragma */
#define OPKIT_FUSED
#endif

/* Inlines a function into its callers: for their processor, with the values that they know. */
#define OPKIT_INLINE __attribute__((always_inline)) static inline

/*
 * Inlines a loop where it is called, and into it the functions that it calls: only then do
 * compilers vectorize it, for the processor of the calling function.
 */
#define OPKIT_ELEMENT_LOOP __attribute__((flatten)) OPKIT_INLINE

#if defined(__x86_64__) && !defined(__AVX2__) && !defined(OPKIT_BASELINE)

#include <cpuid.h>

/* Compiles a function for processors with AVX2 and FMA: vectors of 8 floats, fused additions. */
#define OPKIT_AVX2 __attribute__((target("avx2,fma")))

/*
 * Compiles a function for processors with AVX-512, too, and those of its extensions that x86-64-v4
 * has: vectors of 16 floats.
 */
#define OPKIT_V4 "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"
#define OPKIT_AVX512 __attribute__((target(OPKIT_V4)))

/* The same with VNNI: 64 products of bytes at a time. */
#if defined(__has_include)
#if __has_include(<avx512vnniintrin.h>)
#define OPKIT_VNNI __attribute__((target(OPKIT_V4 ",avx512vnni")))
#endif
#endif

/*
 * Returns what processor and system support: 1 for AVX2 and FMA, 2 for AVX-512, too, 3 for VNNI,
 * too; else 0. Cached: cpuid is slow in virtual machines.
 */
__attribute__((unused)) static int opkit_vector_level(void)
{
    static int answer; /* the level + 1; 0: unknown */
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == 0) {
        const unsigned needed = bit_AVX | bit_FMA | bit_OSXSAVE;
        const unsigned avx512 = 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31; /* F, DQ, BW, VL */
        const unsigned avx512vnni = 1U << 11;
        unsigned a, b, c, d, saved;
        __cpuid(1, a, b, c, d);
        known = 1;
        if ((c & needed) == needed && __get_cpuid_max(0, 0) >= 7) {
            __cpuid_count(7, 0, a, b, c, d);
            /* The system must save all parts of the vector registers: of AVX2's, 6. */
            __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
            if ((b & bit_AVX2) != 0 && (saved & 6) == 6) {
                known = 2;
                if ((b & avx512) == avx512 && (saved & 0xE6) == 0xE6) {
                    known = (c & avx512vnni) != 0 ? 4 : 3;
                }
            }
        }
#ifdef OPKIT_NO_AVX512
        known = known > 2 ? 2 : known;
#endif
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known - 1;
}

/* Each returns whether processor and system support a level. */
__attribute__((unused)) static int opkit_has_avx2(void)
{
    return opkit_vector_level() >= 1;
}

__attribute__((unused)) static int opkit_has_avx512(void)
{
    return opkit_vector_level() >= 2;
}

__attribute__((unused)) static int opkit_has_vnni(void)
{
    return opkit_vector_level() >= 3;
}

/*
 * Defines NAME_widest: calls the function NAME, compiled for the widest vectors of the processor.
 * NAME is inlined, with all that it calls, as an OPKIT_ELEMENT_LOOP is.
 *
 *     OPKIT_WIDEST(add_floats, (const float *x, float *y, size_t count), (x, y, count))
 *
 *   parameters    those of NAME, which returns nothing
 *   arguments     their names
 */
#define OPKIT_WIDEST(name, parameters, arguments)     \
    OPKIT_AVX2 static void name##_avx2 parameters     \
    {                                                 \
        name arguments;                               \
    }                                                 \
    OPKIT_AVX512 static void name##_avx512 parameters \
    {                                                 \
        name arguments;                               \
    }                                                 \
    static inline void name##_widest parameters       \
    {                                                 \
        if (opkit_has_avx512()) {                     \
            name##_avx512 arguments;                  \
        } else if (opkit_has_avx2()) {                \
            name##_avx2 arguments;                    \
        } else {                                      \
            name arguments;                           \
        }                                             \
    }

#else

/* Not inlined: compilers optimize a loop less inside of a larger function. */
#define OPKIT_WIDEST(name, parameters, arguments)                          \
    __attribute__((noinline, unused)) static void name##_widest parameters \
    {                                                                      \
        name arguments;                                                    \
    }

#endif

/* Dot products of bytes on 64-bit ARM; older compilers have no function for them. */
#if defined(__aarch64__) && !defined(OPKIT_BASELINE) && \
    (defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 8)

#include <sys/auxv.h>

/* Compiles a function for processors with them (ARMv8.2-A DotProd): 16 products at a time. */
#define OPKIT_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))

/* Returns whether processor and system support them (HWCAP_ASIMDDP). */
__attribute__((unused)) static int opkit_has_dotprod(void)
{
    return (getauxval(AT_HWCAP) >> 20 & 1U) != 0;
}

#endif

/*
 * With `fp16_math` in op.yml: arithmetic of halves on 64-bit ARM. Only clang: GCC 12 has the type,
 * but computes one half at a time, which is slower than vectors of floats.
 */
#if defined(OPKIT_FP16_MATH) && defined(__aarch64__) && defined(__clang__) && \
    !defined(OPKIT_BASELINE)

#include <sys/auxv.h>

/*
 * Compiles a function for processors with arithmetic of halves (ARMv8.2-A FP16): vectors of 8. Each
 * function that computes with opkit_fp16 has it: elsewhere, compilers compute in float.
 */
#define OPKIT_FP16 __attribute__((target("arch=armv8.2-a+fp16")))
#define OPKIT_FP16_INLINE OPKIT_FP16 OPKIT_INLINE

/*
 * Before a loop over floats that computes with halves: else clang takes vectors of 4, as of floats.
 * A loop that cannot be vectorized is right as it is.
 */
#pragma clang diagnostic ignored "-Wpass-failed"
#define OPKIT_FP16_LOOP _Pragma("clang loop vectorize_width(8)")

__extension__ typedef _Float16 opkit_fp16;

/* Returns whether processor and system support it, for vectors, too (HWCAP_ASIMDHP). */
__attribute__((unused)) static int opkit_has_fp16(void)
{
    return (getauxval(AT_HWCAP) >> 10 & 1U) != 0;
}

#endif

#endif
