/*
 * Discrete Fourier transforms of rows of any length, of several rows at once, in double.
 *
 *   y[k] = sum over n of x[n] * exp(-2 pi j k n / length)        j: the square root of -1
 *
 * Stockham's algorithm computes a transform in passes, one for each factor of the length, and
 * leaves the results in order. The elements of rows with the same index are neighbors in memory, so
 * that the innermost loops run over contiguous elements, whatever the factor. A length with a
 * factor above OPKIT_MAX_RADIX is computed by Bluestein's algorithm, a convolution with transforms
 * of a power of 2. Both are described in C. Van Loan, Computational Frameworks for the Fast Fourier
 * Transform (1992).
 *
 * A real row of an even length is transformed as a complex one of half the length, of its even and
 * odd elements. An inverse transform is the same with real and imaginary parts exchanged, before
 * and after.
 *
 * Plain C11 and C++11; needs libm.
 */
#ifndef OPKIT_FOURIER_H
#define OPKIT_FOURIER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    OPKIT_ROWS = 8, /* rows transformed at once, at most: they fill vectors */
    OPKIT_MAX_RADIX = 31, /* the largest factor of a pass; odd */
    OPKIT_FINE_ANGLES = 64
};

/* Arrays of real and of imaginary parts. */
struct opkit_complex {
    double *re;
    double *im;
};

/* A transform, with its tables and buffers. */
struct opkit_fourier {
    size_t length; /* of the complex rows */
    size_t size; /* of the passes: the length, or for Bluestein's algorithm a power of 2 */
    bool is_halved; /* real rows of an even length, 2 * length */
    struct opkit_complex roots; /* exp(-2 pi j k / size) */
    struct opkit_complex chirp; /* exp(-pi j k^2 / length); for Bluestein's algorithm */
    struct opkit_complex filter; /* the transform of the chirp's conjugate */
    struct opkit_complex half_roots; /* exp(-pi j k / length); for halved rows */
    struct opkit_complex x; /* the rows: element i of row r is at i * rows + r */
    struct opkit_complex y; /* the other buffer of the passes */
};

/* Returns the factor of the next pass of a length, or 0 if all are above OPKIT_MAX_RADIX. */
static inline size_t opkit_next_radix(size_t length)
{
    if (length % 2 == 0) {
        return length % 4 == 0 ? 4 : 2;
    }
    for (size_t radix = 3; radix <= OPKIT_MAX_RADIX; radix += 2) {
        if (length % radix == 0) {
            return radix;
        }
    }
    return 0;
}

/* Returns the size of the passes for a length. */
static inline size_t opkit_fourier_size(size_t length)
{
    size_t rest = length, size = 1;

    for (size_t radix = opkit_next_radix(rest); radix > 0; radix = opkit_next_radix(rest)) {
        rest /= radix;
    }
    if (rest == 1) {
        return length;
    }
    while (size < 2 * length - 1) {
        size *= 2;
    }
    return size;
}

/* Returns the doubles of memory for transforms of a length, of so many rows at once. */
static inline size_t opkit_fourier_memory(size_t length, size_t rows)
{
    const size_t size = opkit_fourier_size(length);
    const size_t buffer = rows * (size + 1);

    return 2 * (2 * buffer + 2 * size + 2 * length + 1); /* roots, filter; chirp, half_roots */
}

static inline struct opkit_complex opkit_take_complex(double **memory, size_t count)
{
    const struct opkit_complex taken = {*memory, *memory + count};

    *memory += 2 * count;
    return taken;
}

/*
 * Computes exp(-2 pi j k / size) for k below `count`: by products of roots with coarse and
 * with fine angles, which are exact to 2 roundings.
 */
static inline void opkit_compute_roots(struct opkit_complex roots, size_t count, size_t size)
{
    const double angle = -6.283185307179586477 / (double)size;
    double fine_re[OPKIT_FINE_ANGLES], fine_im[OPKIT_FINE_ANGLES];
    const size_t fine = count < OPKIT_FINE_ANGLES ? count : (size_t)OPKIT_FINE_ANGLES;

    for (size_t i = 0; i < fine; i++) {
        fine_re[i] = cos(angle * (double)i);
        fine_im[i] = sin(angle * (double)i);
    }
    for (size_t start = 0; start < count; start += OPKIT_FINE_ANGLES) {
        const double re = cos(angle * (double)start), im = sin(angle * (double)start);
        for (size_t i = 0; i < fine && start + i < count; i++) {
            roots.re[start + i] = re * fine_re[i] - im * fine_im[i];
            roots.im[start + i] = re * fine_im[i] + im * fine_re[i];
        }
    }
}

/* Computes `stride` butterflies of 2 elements, which are `from` apart. */
static inline void opkit_butterflies_2(const double *__restrict re, const double *__restrict im,
                                       size_t from, double *__restrict to_re,
                                       double *__restrict to_im, size_t stride, double root_re,
                                       double root_im)
{
    for (size_t i = 0; i < stride; i++) {
        const double a = re[i] - re[from + i], b = im[i] - im[from + i];

        to_re[i] = re[i] + re[from + i];
        to_im[i] = im[i] + im[from + i];
        to_re[stride + i] = a * root_re - b * root_im;
        to_im[stride + i] = a * root_im + b * root_re;
    }
}

/* The same of 4 elements; their results are multiplied by roots[1] to roots[3]. */
static inline void opkit_butterflies_4(const double *__restrict re, const double *__restrict im,
                                       size_t from, double *__restrict to_re,
                                       double *__restrict to_im, size_t stride,
                                       const double roots_re[4], const double roots_im[4])
{
    const double r1 = roots_re[1], r2 = roots_re[2], r3 = roots_re[3];
    const double i1 = roots_im[1], i2 = roots_im[2], i3 = roots_im[3];

    for (size_t i = 0; i < stride; i++) {
        const double even_re = re[i] + re[2 * from + i], even_im = im[i] + im[2 * from + i];
        const double odd_re = re[from + i] + re[3 * from + i];
        const double odd_im = im[from + i] + im[3 * from + i];
        const double a_re = re[i] - re[2 * from + i], a_im = im[i] - im[2 * from + i];
        const double b_re = im[from + i] - im[3 * from + i];
        const double b_im = re[3 * from + i] - re[from + i];
        const double x1 = a_re + b_re, y1 = a_im + b_im;
        const double x2 = even_re - odd_re, y2 = even_im - odd_im;
        const double x3 = a_re - b_re, y3 = a_im - b_im;

        to_re[i] = even_re + odd_re;
        to_im[i] = even_im + odd_im;
        to_re[stride + i] = x1 * r1 - y1 * i1;
        to_im[stride + i] = x1 * i1 + y1 * r1;
        to_re[2 * stride + i] = x2 * r2 - y2 * i2;
        to_im[2 * stride + i] = x2 * i2 + y2 * r2;
        to_re[3 * stride + i] = x3 * r3 - y3 * i3;
        to_im[3 * stride + i] = x3 * i3 + y3 * r3;
    }
}

/* Sums and differences of the elements of butterflies that stand opposite each other. */
struct opkit_odd_pairs {
    double sum_re[OPKIT_MAX_RADIX / 2][OPKIT_ROWS], sum_im[OPKIT_MAX_RADIX / 2][OPKIT_ROWS];
    double gap_re[OPKIT_MAX_RADIX / 2][OPKIT_ROWS], gap_im[OPKIT_MAX_RADIX / 2][OPKIT_ROWS];
};

/*
 * Computes up to OPKIT_ROWS butterflies of an odd radix. With the elements in pairs, a root and its
 * conjugate take two multiplications by real numbers.
 *
 *   from, to      the elements and the results, `from_pitch` and `to_pitch` apart
 *   part_step     result j is multiplied by the root j * part_step
 */
static inline void opkit_butterflies_odd(const struct opkit_fourier *plan, size_t radix,
                                         struct opkit_complex from, size_t from_pitch,
                                         struct opkit_complex to, size_t to_pitch, size_t count,
                                         size_t part_step)
{
    const struct opkit_complex roots = plan->roots;
    const size_t half = radix / 2, own = plan->size / radix;
    struct opkit_odd_pairs pairs;

    for (size_t i = 0; i < count; i++) {
        double re = from.re[i], im = from.im[i];
        for (size_t k = 0; k < half; k++) {
            const size_t one = (k + 1) * from_pitch + i, other = (radix - 1 - k) * from_pitch + i;
            pairs.sum_re[k][i] = from.re[one] + from.re[other];
            pairs.sum_im[k][i] = from.im[one] + from.im[other];
            pairs.gap_re[k][i] = from.re[one] - from.re[other];
            pairs.gap_im[k][i] = from.im[one] - from.im[other];
            re += pairs.sum_re[k][i];
            im += pairs.sum_im[k][i];
        }
        to.re[i] = re;
        to.im[i] = im;
    }
    for (size_t j = 1; j <= half; j++) {
        const size_t one = j * part_step, other = (radix - j) * part_step;
        const double one_re = roots.re[one], one_im = roots.im[one];
        const double other_re = roots.re[other], other_im = roots.im[other];

        for (size_t i = 0; i < count; i++) {
            double re = from.re[i], im = from.im[i], turned_re = 0.0, turned_im = 0.0;
            for (size_t k = 0; k < half; k++) {
                const size_t root = j * (k + 1) % radix * own;
                re += pairs.sum_re[k][i] * roots.re[root];
                im += pairs.sum_im[k][i] * roots.re[root];
                turned_re -= pairs.gap_im[k][i] * roots.im[root];
                turned_im += pairs.gap_re[k][i] * roots.im[root];
            }
            const double x = re + turned_re, y = im + turned_im;
            const double u = re - turned_re, v = im - turned_im;
            to.re[j * to_pitch + i] = x * one_re - y * one_im;
            to.im[j * to_pitch + i] = x * one_im + y * one_re;
            to.re[(radix - j) * to_pitch + i] = u * other_re - v * other_im;
            to.im[(radix - j) * to_pitch + i] = u * other_im + v * other_re;
        }
    }
}

/*
 * Computes a pass, from `plan->x` to `plan->y`.
 *
 *   radix      its factor
 *   parts      the length of what remains to be transformed, by the radix
 *   stride     neighboring elements with the same roots: rows, times the factors so far
 *   step       the product of the factors so far
 */
static inline void opkit_fourier_pass(const struct opkit_fourier *plan, size_t radix, size_t parts,
                                      size_t stride, size_t step)
{
    const struct opkit_complex roots = plan->roots;
    const size_t pitch = parts * stride;

    for (size_t part = 0; part < parts; part++) {
        const size_t root = part * step;
        const struct opkit_complex from = {plan->x.re + part * stride, plan->x.im + part * stride};
        const struct opkit_complex to = {plan->y.re + radix * part * stride,
                                         plan->y.im + radix * part * stride};

        if (radix == 4) {
            const double re[4] = {1.0, roots.re[root], roots.re[2 * root], roots.re[3 * root]};
            const double im[4] = {0.0, roots.im[root], roots.im[2 * root], roots.im[3 * root]};
            opkit_butterflies_4(from.re, from.im, pitch, to.re, to.im, stride, re, im);
        } else if (radix == 2) {
            opkit_butterflies_2(from.re, from.im, pitch, to.re, to.im, stride, roots.re[root],
                                roots.im[root]);
        } else {
            for (size_t i = 0; i < stride; i += OPKIT_ROWS) {
                const size_t rest = stride - i;
                const struct opkit_complex some = {from.re + i, from.im + i};
                const struct opkit_complex results = {to.re + i, to.im + i};
                opkit_butterflies_odd(plan, radix, some, pitch, results, stride,
                                      rest < OPKIT_ROWS ? rest : (size_t)OPKIT_ROWS, root);
            }
        }
    }
}

/* Transforms the rows in `plan->x`, of `plan->size` elements. */
static inline void opkit_run_passes(struct opkit_fourier *plan, size_t rows)
{
    for (size_t rest = plan->size, step = 1; rest > 1;) {
        const size_t radix = opkit_next_radix(rest);
        const struct opkit_complex results = plan->y;

        rest /= radix;
        opkit_fourier_pass(plan, radix, rest, rows * step, step);
        step *= radix;
        plan->y = plan->x;
        plan->x = results;
    }
}

/* Exchanges real and imaginary parts. */
static inline struct opkit_complex opkit_exchanged(struct opkit_complex x)
{
    const struct opkit_complex result = {x.im, x.re};
    return result;
}

/* Multiplies `count` elements of each row by a factor of their own, and by a number. */
static inline void opkit_multiply_rows(struct opkit_complex x, size_t count, size_t rows,
                                       struct opkit_complex factors, double number)
{
    for (size_t i = 0; i < count; i++) {
        const double re = factors.re[i] * number, im = factors.im[i] * number;
        double *x_re = x.re + i * rows;
        double *x_im = x.im + i * rows;

        for (size_t row = 0; row < rows; row++) {
            const double old = x_re[row];
            x_re[row] = old * re - x_im[row] * im;
            x_im[row] = old * im + x_im[row] * re;
        }
    }
}

/* Transforms complex rows. */
static inline void opkit_transform_complex(struct opkit_fourier *plan, size_t rows)
{
    if (plan->size == plan->length) {
        opkit_run_passes(plan, rows);
        return;
    }
    const size_t used = plan->length * rows, all = plan->size * rows;

    opkit_multiply_rows(plan->x, plan->length, rows, plan->chirp, 1.0);
    memset(plan->x.re + used, 0, (all - used) * sizeof *plan->x.re);
    memset(plan->x.im + used, 0, (all - used) * sizeof *plan->x.im);
    opkit_run_passes(plan, rows);
    opkit_multiply_rows(plan->x, plan->size, rows, plan->filter, 1.0 / (double)plan->size);
    plan->x = opkit_exchanged(plan->x);
    plan->y = opkit_exchanged(plan->y);
    opkit_run_passes(plan, rows);
    plan->x = opkit_exchanged(plan->x);
    plan->y = opkit_exchanged(plan->y);
    opkit_multiply_rows(plan->x, plan->length, rows, plan->chirp, 1.0);
}

/*
 * Computes the first half of the transforms of real rows, 0 to length, from those of the rows of
 * even and odd elements: z[k] = even[k] + j odd[k].
 */
static inline void opkit_join_halves(struct opkit_fourier *plan, size_t rows)
{
    const struct opkit_complex z = plan->x, results = plan->y;
    const size_t length = plan->length;

    for (size_t k = 0; k <= length; k++) {
        const double root_re = 0.5 * plan->half_roots.re[k], root_im = 0.5 * plan->half_roots.im[k];
        const size_t one = k % length * rows, other = (length - k) % length * rows;

        for (size_t row = 0; row < rows; row++) {
            const double a_re = z.re[one + row], a_im = z.im[one + row];
            const double b_re = z.re[other + row], b_im = -z.im[other + row];
            const double odd_re = a_im - b_im, odd_im = b_re - a_re;

            results.re[k * rows + row] =
                0.5 * (a_re + b_re) + (odd_re * root_re - odd_im * root_im);
            results.im[k * rows + row] =
                0.5 * (a_im + b_im) + (odd_re * root_im + odd_im * root_re);
        }
    }
    plan->x = results;
    plan->y = z;
}

/* Transforms the rows in `plan->x`. The results are there, too: of halved rows, 0 to length. */
static inline void opkit_transform(struct opkit_fourier *plan, size_t rows)
{
    opkit_transform_complex(plan, rows);
    if (plan->is_halved) {
        opkit_join_halves(plan, rows);
    }
}

/* Computes the tables of Bluestein's algorithm. */
static inline void opkit_start_chirp(struct opkit_fourier *plan, double **memory)
{
    const size_t length = plan->length, size = plan->size;

    plan->chirp = opkit_take_complex(memory, length);
    plan->filter = opkit_take_complex(memory, size);
    memset(plan->x.re, 0, size * sizeof *plan->x.re);
    memset(plan->x.im, 0, size * sizeof *plan->x.im);
    for (size_t i = 0; i < length; i++) {
        /* The square is reduced as an integer: an angle of many turns has few digits left. */
        const uint64_t square = (uint64_t)i * i % (2 * (uint64_t)length);
        const double angle = -3.141592653589793238 * (double)square / (double)length;
        const size_t mirrored = i == 0 ? 0 : size - i;

        plan->chirp.re[i] = cos(angle);
        plan->chirp.im[i] = sin(angle);
        plan->x.re[i] = plan->x.re[mirrored] = plan->chirp.re[i];
        plan->x.im[i] = plan->x.im[mirrored] = -plan->chirp.im[i];
    }
    opkit_run_passes(plan, 1);
    memcpy(plan->filter.re, plan->x.re, size * sizeof *plan->x.re);
    memcpy(plan->filter.im, plan->x.im, size * sizeof *plan->x.im);
}

/*
 * Starts transforms of a length, 1 or more, of up to `rows` rows at once. `memory` has
 * opkit_fourier_memory(length, rows) doubles.
 */
static inline void opkit_start_fourier(struct opkit_fourier *plan, size_t length, bool is_real,
                                       size_t rows, double *memory)
{
    plan->is_halved = is_real && length % 2 == 0;
    plan->length = plan->is_halved ? length / 2 : length;
    plan->size = opkit_fourier_size(plan->length);
    plan->x = opkit_take_complex(&memory, rows * (plan->size + 1));
    plan->y = opkit_take_complex(&memory, rows * (plan->size + 1));
    plan->roots = opkit_take_complex(&memory, plan->size);
    opkit_compute_roots(plan->roots, plan->size, plan->size);
    if (plan->is_halved) {
        plan->half_roots = opkit_take_complex(&memory, plan->length + 1);
        opkit_compute_roots(plan->half_roots, plan->length + 1, length);
    }
    if (plan->size != plan->length) {
        opkit_start_chirp(plan, &memory);
    }
}

/*
 * Stores real elements, `step` apart in memory, as a row of `plan->x`; the rest of it is 0.
 *
 *   count      the number of elements: at most the length of the transform
 *   window     factors of the elements, or NULL
 */
static inline void opkit_load_real(const struct opkit_fourier *plan, size_t rows, size_t row,
                                   const float *x, size_t step, size_t count, const float *window)
{
    const size_t all = plan->is_halved ? 2 * plan->length : plan->length;

    for (size_t i = 0; i < all; i++) {
        const double weight = window == NULL ? 1.0 : (double)window[i < count ? i : 0];
        const double element = i < count ? (double)x[i * step] * weight : 0.0;

        if (plan->is_halved) {
            (i % 2 == 0 ? plan->x.re : plan->x.im)[i / 2 * rows + row] = element;
        } else {
            plan->x.re[i * rows + row] = element;
            plan->x.im[i * rows + row] = 0.0;
        }
    }
}

#endif
