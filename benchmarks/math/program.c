/*
 * program check NAME STRIDE LAST    the function on every STRIDEth float up to the magnitude LAST
 * program time NAME LOW HIGH COUNT RUNS [SLEEF SYMBOL]    its loops on COUNT numbers
 *
 * The exact values are those of glibc's vector library in double, whose error is at most 4 ulp of a
 * double. `check` prints for each build of the loops: the maximum distance to the float nearest to
 * the exact value, how many results have other bits, and the argument of the maximum. `time` prints
 * the seconds of memcpy, of each build, of the C library's function, and of the function SYMBOL of
 * 8 floats in the library SLEEF.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "functions.h"

typedef double doubles __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(32)));
typedef void loop(const float *x, float *y, size_t count);

#define WIDE(name) doubles _ZGVdN4v_##name(doubles)
WIDE(exp);
WIDE(expm1);
WIDE(log);
WIDE(log1p);
WIDE(sin);
WIDE(cos);
WIDE(tan);
WIDE(asin);
WIDE(acos);
WIDE(atan);
WIDE(sinh);
WIDE(cosh);
WIDE(tanh);
WIDE(erf);

#define exact_exp _ZGVdN4v_exp
#define exact_expm1 _ZGVdN4v_expm1
#define exact_log _ZGVdN4v_log
#define exact_log1p _ZGVdN4v_log1p
#define exact_sin _ZGVdN4v_sin
#define exact_cos _ZGVdN4v_cos
#define exact_tan _ZGVdN4v_tan
#define exact_asin _ZGVdN4v_asin
#define exact_acos _ZGVdN4v_acos
#define exact_atan _ZGVdN4v_atan
#define exact_sinh _ZGVdN4v_sinh
#define exact_cosh _ZGVdN4v_cosh
#define exact_tanh _ZGVdN4v_tanh
#define exact_erf _ZGVdN4v_erf
#define exact_exp_fast exact_exp
#define exact_sin_fast exact_sin
#define exact_cos_fast exact_cos
#define exact_tan_fast exact_tan
#define exact_tanh_fast exact_tanh
#define exact_exp_row exact_exp
#define exact_sin_row exact_sin
#define exact_cos_row exact_cos
#define exact_tan_row exact_tan

static doubles exact_sqrt(doubles x)
{
    for (int i = 0; i < 4; i++) {
        x[i] = sqrt(x[i]);
    }
    return x;
}

static doubles exact_rsqrt(doubles x)
{
    return 1.0 / exact_sqrt(x);
}

static doubles exact_sigmoid(doubles x)
{
    return 1.0 / (1.0 + exact_exp(-x));
}

static float sigmoidf(float x)
{
    return 1.0F / (1.0F + expf(-x));
}

static float rsqrtf(float x)
{
    return 1.0F / sqrtf(x);
}

#define exp_fastf expf
#define sin_fastf sinf
#define cos_fastf cosf
#define tan_fastf tanf
#define tanh_fastf tanhf
#define exp_rowf expf
#define sin_rowf sinf
#define cos_rowf cosf
#define tan_rowf tanf

enum {
    BUILDS = 3
};
static const char *const build_names[BUILDS] = {"SSE2", "AVX2", "AVX2, contract=fast"};

struct function {
    const char *name;
    loop *builds[BUILDS];
    loop *library;
    doubles (*exact)(doubles);
};

/*
 * Where exact values are computed, and the values below and above: the vector library is slow for
 * arguments that it has to treat one by one.
 */
struct domain {
    float low, high, below, above;
};

#define FINITE FLT_MAX
static const struct domain exp_domain = {-200, 200, 0, INFINITY};
static const struct domain expm1_domain = {-200, 200, -1, INFINITY};
static const struct domain log_domain = {0, FINITE, NAN, INFINITY};
static const struct domain log1p_domain = {-1, FINITE, NAN, INFINITY};
static const struct domain sin_domain = {-FINITE, FINITE, NAN, NAN};
static const struct domain asin_domain = {-1, 1, NAN, NAN};
static const struct domain atan_domain = {-INFINITY, INFINITY, 0, 0};
static const struct domain sinh_domain = {-200, 200, -INFINITY, INFINITY};
static const struct domain cosh_domain = {-200, 200, INFINITY, INFINITY};
static const struct domain tanh_domain = {-200, 200, -1, 1};
static const struct domain rsqrt_domain = {0, FINITE, NAN, 0};
static const struct domain sigmoid_domain = {-200, 200, 0, 1};

static const struct {
    const char *name;
    const struct domain *domain;
} domains[] = {{"exp", &exp_domain},        {"expm1", &expm1_domain},     {"log", &log_domain},
               {"log1p", &log1p_domain},    {"sin", &sin_domain},         {"cos", &sin_domain},
               {"tan", &sin_domain},        {"asin", &asin_domain},       {"acos", &asin_domain},
               {"atan", &atan_domain},      {"sinh", &sinh_domain},       {"cosh", &cosh_domain},
               {"tanh", &tanh_domain},      {"erf", &tanh_domain},        {"sqrt", &log_domain},
               {"rsqrt", &rsqrt_domain},    {"sigmoid", &sigmoid_domain}, {"exp_fast", &exp_domain},
               {"sin_fast", &sin_domain},   {"cos_fast", &sin_domain},    {"tan_fast", &sin_domain},
               {"tanh_fast", &tanh_domain}, {"exp_row", &exp_domain},     {"sin_row", &sin_domain},
               {"cos_row", &sin_domain},    {"tan_row", &sin_domain}};

static const struct domain *domain_of(const char *name)
{
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        if (strcmp(domains[i].name, name) == 0) {
            return domains[i].domain;
        }
    }
    fprintf(stderr, "no exact values of %s\n", name);
    exit(2);
}

#define DECLARE(name)                                                  \
    loop name##_sse2, name##_avx2, name##_fused;                       \
    static void name##_library(const float *x, float *y, size_t count) \
    {                                                                  \
        for (size_t i = 0; i < count; i++) {                           \
            y[i] = name##f(x[i]);                                      \
        }                                                              \
    }
FOR_EACH(DECLARE)
FOR_EACH_ROW(DECLARE)

loop pow_sse2, pow_avx2, pow_fused;
static void pow_library(const float *x, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = powf(x[i], 1.7F);
    }
}

#define ENTRY(name) {#name, {name##_sse2, name##_avx2, name##_fused}, name##_library, exact_##name},
static const struct function functions[] = {
    FOR_EACH(ENTRY) FOR_EACH_ROW(ENTRY){"pow", {pow_sse2, pow_avx2, pow_fused}, pow_library, NULL}};

static const struct function *find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return &functions[i];
        }
    }
    fprintf(stderr, "no function %s\n", name);
    exit(2);
}

/* ---- check ----------------------------------------------------------------------------------- */

enum {
    BLOCK = 4096
};

struct result {
    uint64_t distance, inexact;
    float argument;
};

/* Returns numbers that are neighbors for neighboring floats. */
static int64_t order(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

/* Returns the distance in floats; huge if only one is a NaN, or if zeros have other signs. */
static uint64_t distance(float value, float nearest)
{
    if (isnan(value) || isnan(nearest)) {
        return isnan(value) && isnan(nearest) ? 0 : UINT32_MAX;
    }
    if (value == 0.0F && nearest == 0.0F) {
        return signbit(value) == signbit(nearest) ? 0 : UINT32_MAX;
    }
    return (uint64_t)llabs(order(value) - order(nearest));
}

/* Returns the maximum difference of the bits of two blocks: their distance, if signs are equal. */
static uint32_t difference(const float *a, const float *b, size_t count, uint64_t *inexact)
{
    uint32_t max = 0, different = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t left, right;
        memcpy(&left, &a[i], sizeof left);
        memcpy(&right, &b[i], sizeof right);
        const uint32_t found = left > right ? left - right : right - left;
        max = found > max ? found : max;
        different += found != 0;
    }
    *inexact += different;
    return max;
}

static void find_exact(const struct function *function, const float *x, float *exact, size_t count)
{
    static doubles wide[BLOCK / 4];
    const struct domain domain = *domain_of(function->name);
    double *values = (double *)wide;

    for (size_t i = 0; i < count; i++) {
        values[i] = x[i] >= domain.low && x[i] <= domain.high ? (double)x[i] : 0.5;
    }
    for (size_t i = 0; i < count / 4; i++) {
        wide[i] = function->exact(wide[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const float value = (float)values[i];
        const float below = x[i] < domain.low ? domain.below : value;
        const float bounded = x[i] > domain.high ? domain.above : below;
        exact[i] = x[i] != x[i] ? x[i] : bounded;
    }
}

static void check_block(const struct function *function, const float *x, size_t count,
                        struct result *results)
{
    static float exact[BLOCK], y[BLOCK];

    find_exact(function, x, exact, count);
    for (int build = 0; build < BUILDS; build++) {
        struct result *result = &results[build];
        function->builds[build](x, y, count);
        if (difference(y, exact, count, &result->inexact) <= result->distance) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            const uint64_t found = distance(y[i], exact[i]);
            if (found > result->distance) {
                result->distance = found;
                result->argument = x[i];
            }
        }
    }
}

static void check(const struct function *function, uint64_t stride, float last)
{
    static float x[BLOCK];
    struct result results[BUILDS] = {0};
    uint64_t next = 0;

    while (next <= UINT32_MAX) {
        const uint64_t left = (UINT32_MAX - next) / stride + 1;
        const size_t count = left < BLOCK ? (size_t)left : BLOCK;
        for (size_t i = 0; i < BLOCK; i++) {
            const uint32_t bits = (uint32_t)(next + (i < count ? i : 0) * stride);
            memcpy(&x[i], &bits, sizeof bits);
            x[i] = last < INFINITY && !(fabsf(x[i]) <= last) ? 0.0F : x[i];
        }
        next += count * stride;
        check_block(function, x, BLOCK, results);
    }
    for (int build = 0; build < BUILDS; build++) {
        printf("%s;%llu;%llu;%.9g\n", build_names[build],
               (unsigned long long)results[build].distance,
               (unsigned long long)results[build].inexact, (double)results[build].argument);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void copy(const float *x, float *y, size_t count)
{
    memcpy(y, x, count * sizeof *y);
}

static floats (*sleef)(floats);

static void call_sleef(const float *x, float *y, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        floats values;
        memcpy(&values, x + i, sizeof values);
        values = sleef(values);
        memcpy(y + i, &values, sizeof values);
    }
}

/* Loads a function of SLEEF. */
static void load_sleef(const char *library, const char *symbol)
{
    void *handle = dlopen(library, RTLD_NOW);

    *(void **)&sleef = handle == NULL ? NULL : dlsym(handle, symbol);
    if (sleef == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
}

/* Sums the minima of parts, so that another process disturbs only a part; memcpy is one call. */
static void measure(const struct function *function, float low, float high, size_t count, int runs)
{
    loop *const loops[] = {copy, function->builds[0], function->builds[1], function->library,
                           call_sleef};
    const size_t loop_count = sizeof loops / sizeof *loops - (sleef == NULL);
    float *x = malloc(count * sizeof *x), *y = calloc(count, sizeof *y);
    double *best = calloc(count, sizeof *best);

    if (x == NULL || y == NULL || best == NULL) {
        exit(2);
    }
    srand(1);
    for (size_t i = 0; i < count; i++) {
        x[i] = low + (high - low) * (float)((double)rand() / RAND_MAX);
    }
    for (size_t i = 0; i < loop_count; i++) {
        const size_t part = i == 0 ? count : 1 << 15, parts = count / part;
        double total = 0;
        for (int run = 0; run < runs; run++) {
            for (size_t k = 0; k < parts; k++) {
                const double start = now();
                loops[i](x + k * part, y + k * part, part);
                const double seconds = now() - start;
                best[k] = run == 0 || seconds < best[k] ? seconds : best[k];
            }
        }
        for (size_t k = 0; k < parts; k++) {
            total += best[k];
        }
        printf("%.9g\n", total);
    }
    free(x);
    free(y);
    free(best);
}

int main(int count, char **words)
{
    if (count == 5 && strcmp(words[1], "check") == 0) {
        check(find(words[2]), strtoull(words[3], NULL, 10), strtof(words[4], NULL));
        return 0;
    }
    if ((count == 7 || count == 9) && strcmp(words[1], "time") == 0) {
        if (count == 9) {
            load_sleef(words[7], words[8]);
        }
        measure(find(words[2]), strtof(words[3], NULL), strtof(words[4], NULL),
                strtoull(words[5], NULL, 10), atoi(words[6]));
        return 0;
    }
    fprintf(stderr, "see the comment at the start of program.c\n");
    return 2;
}
