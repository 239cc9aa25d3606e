/*
 * The work of other libraries: SLEEF's functions of at most 1 ulp (u10), XNNPACK's operators,
 * OpenBLAS's products of matrices, in one thread.
 *
 *     program time WORK RUNS    prints the processor time of the fastest of so many calls, ns
 *     program call WORK COUNT   only calls, for counting instructions
 */
#define _POSIX_C_SOURCE 199309L
#include <cblas.h>
#include <math.h>
#include <sleef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xnnpack.h>

#if defined(__aarch64__)
typedef float32x4_t floats;
#define SLEEF(name) Sleef_##name##f4_u10
#define ALL(x) vdupq_n_f32(x)
#else
typedef __m256 floats;
#define SLEEF(name) Sleef_##name##f8_u10
#define ALL(x) _mm256_set1_ps(x)
#endif

enum {
    COUNT = 1 << 16, /* elements of the functions */
    ROOT = 256, /* rows of so many elements */
    KEYS = 197, /* of attention */
    HEAD = 64 /* features */
};

static float *x, *y, *scores, *keys;
static xnn_operator_t operator_;

/* Applies a function of SLEEF to all elements, vector by vector. */
#define LOOP(name, expression)                                   \
    static void run_##name(void)                                 \
    {                                                            \
        for (size_t i = 0; i < COUNT; i += sizeof(floats) / 4) { \
            floats v;                                            \
            memcpy(&v, x + i, sizeof v);                         \
            v = expression;                                      \
            memcpy(y + i, &v, sizeof v);                         \
        }                                                        \
    }
LOOP(exp, SLEEF(exp)(v))
LOOP(tanh, SLEEF(tanh)(v))
LOOP(erf, SLEEF(erf)(v))
LOOP(sigmoid, ALL(1) / (ALL(1) + SLEEF(exp)(-v)))
LOOP(gelu, v *ALL(0.5F) * (ALL(1) + SLEEF(erf)(v * ALL(0.707106781F))))

static void check(enum xnn_status status)
{
    if (status != xnn_status_success) {
        fprintf(stderr, "XNNPACK's status is %d\n", (int)status);
        exit(1);
    }
}

static void run_operator(void)
{
    check(xnn_run_operator(operator_, NULL));
}

static void set_up_sigmoid(void)
{
    check(xnn_create_sigmoid_nc_f32(ROOT, ROOT, ROOT, 0, &operator_));
    check(xnn_setup_sigmoid_nc_f32(operator_, COUNT / ROOT, x, y, NULL));
}

static void set_up_softmax(void)
{
    check(xnn_create_softmax_nc_f32(ROOT, ROOT, ROOT, 0, &operator_));
    check(xnn_setup_softmax_nc_f32(operator_, COUNT / ROOT, x, y, NULL));
}

static void set_up_attention(void)
{
    check(xnn_create_softmax_nc_f32(KEYS, KEYS, KEYS, 0, &operator_));
    check(xnn_setup_softmax_nc_f32(operator_, KEYS, scores, scores, NULL));
}

/* The queries are x, the keys and values are `keys`. */
static void run_attention(void)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, KEYS, KEYS, HEAD, 0.125F, x, HEAD, keys,
                HEAD, 0, scores, KEYS);
    run_operator();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, KEYS, HEAD, KEYS, 1, scores, KEYS, keys,
                HEAD, 0, y, HEAD);
}

static const struct {
    const char *name;
    void (*set_up)(void), (*run)(void);
} works[] = {
    {"exp", NULL, run_exp},
    {"tanh", NULL, run_tanh},
    {"erf", NULL, run_erf},
    {"sigmoid", NULL, run_sigmoid},
    {"gelu", NULL, run_gelu},
    {"sigmoid_xnnpack", set_up_sigmoid, run_operator},
    {"softmax", set_up_softmax, run_operator},
    {"attention", set_up_attention, run_attention},
};

static double nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static float *allocate(void)
{
    float *memory = aligned_alloc(64, COUNT * sizeof *memory);
    unsigned random = 1;

    for (size_t i = 0; i < ROOT; i++) {
        random = random * 1664525U + 1013904223U;
        memory[i] = (float)(random >> 8) / 4194304.0F - 2.0F;
    }
    for (size_t i = ROOT; i < COUNT; i += ROOT) {
        memcpy(memory + i, memory, ROOT * sizeof *memory);
    }
    return memory;
}

int main(int argument_count, char **arguments)
{
    const int count = argument_count == 4 ? atoi(arguments[3]) : 0;
    double fastest = 1e18;
    size_t work = 0;

    while (work < sizeof works / sizeof *works && strcmp(works[work].name, arguments[2]) != 0) {
        work++;
    }
    x = allocate();
    y = allocate();
    keys = allocate();
    scores = allocate();
    check(xnn_initialize(NULL));
    if (works[work].set_up != NULL) {
        works[work].set_up();
    }
    for (int i = 0; i < count; i++) {
        const double begin = nanoseconds();
        works[work].run();
        const double elapsed = nanoseconds() - begin;
        fastest = elapsed < fastest ? elapsed : fastest;
    }
    if (strcmp(arguments[1], "time") == 0) {
        printf("%.0f\n", fastest);
    }
    return 0;
}
