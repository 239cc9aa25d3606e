#include "generated/reduceprod.h"
#include "include/opkit/compute/axes.h"
#include "include/opkit/compute/integer_axes.h"

/*
 * Multiplies the products of the lanes by the elements of rows. They are in double: in float,
 * products of many elements leave the range early.
 */
static inline void reduceprod_multiply(const float *x, size_t rows, size_t pitch, size_t lanes,
                                       double *products)
{
    size_t row = 0;

    for (; row + 4 <= rows; row += 4) {
        const float *a = x + row * pitch, *b = a + pitch, *c = b + pitch, *d = c + pitch;
        for (size_t lane = 0; lane < lanes; lane++) {
            products[lane] *=
                ((double)a[lane] * (double)b[lane]) * ((double)c[lane] * (double)d[lane]);
        }
    }
    for (; row < rows; row++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            products[lane] *= (double)x[row * pitch + lane];
        }
    }
}

OPKIT_INLINE void reduceprod_columns(const void *math, const struct opkit_reduction *plan,
                                     size_t columns, size_t step, const float *x, float *y)
{
    const size_t lanes = columns * step, pitch = plan->columns * step;
    const size_t rows = plan->length / step, rest = plan->length % step * columns;
    double products[OPKIT_COLUMNS];
    (void)math;

    for (size_t lane = 0; lane < lanes; lane++) {
        products[lane] = 1.0;
    }
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);

        reduceprod_multiply(place, rows, pitch, lanes, products);
        reduceprod_multiply(place + rows * pitch, 1, pitch, rest, products);
    }
    for (size_t half = lanes / 2; half >= columns; half /= 2) {
        for (size_t lane = 0; lane < half; lane++) {
            products[lane] *= products[half + lane];
        }
    }
    for (size_t column = 0; column < columns; column++) {
        y[column] = (float)products[column];
    }
}

static inline float reduceprod_element(const void *math, const struct opkit_reduction *plan,
                                       const float *x)
{
    double product = 1.0;
    (void)math;

    for (size_t i = 0; i < plan->reduced.count; i++) {
        reduceprod_multiply(x + opkit_offset(&plan->reduced, i), plan->length, plan->columns, 1,
                            &product);
    }
    return (float)product;
}

OPKIT_ELEMENT_LOOP void reduceprod_run(const struct opkit_reduction *plan, const float *x, float *y)
{
    opkit_reduce(plan, x, y, reduceprod_columns, reduceprod_element, NULL);
}

static inline uint64_t reduceprod_combine(uint64_t result, uint64_t term)
{
    return result * term;
}

static void reduceprod_run_integers(const struct opkit_reduction *plan,
                                    const struct opkit_tensor *x, const struct opkit_tensor *y)
{
    const struct opkit_integer_math math = {1, reduceprod_combine, NULL};

    opkit_reduce_integers(&math, plan, x, y);
}
