/*
 * Fused arithmetic; and vector instructions of this processor beyond what the compiler may assume,
 * which OPKIT_BASELINE turns off.
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

#if defined(__x86_64__) && !defined(__AVX2__) && !defined(OPKIT_BASELINE)

#include <cpuid.h>

/* Compiles a function for processors with AVX2 and FMA: vectors of 8 floats, fused additions. */
#define OPKIT_AVX2 __attribute__((target("avx2,fma")))

/* Returns whether processor and system support both. Cached: cpuid is slow in virtual machines. */
__attribute__((unused)) static int opkit_has_avx2(void)
{
    static int answer; /* 0: unknown; 1: no; 2: yes */
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == 0) {
        const unsigned needed = bit_AVX | bit_FMA | bit_OSXSAVE;
        unsigned a, b, c, d;
        __cpuid(1, a, b, c, d);
        known = 1;
        if ((c & needed) == needed && __get_cpuid_max(0, 0) >= 7) {
            __cpuid_count(7, 0, a, b, c, d);
            const unsigned extended = b;
            /* The system must save both halves of the vector registers. */
            __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
            known += (extended & bit_AVX2) != 0 && (a & 6) == 6;
        }
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known == 2;
}

#endif

#endif
