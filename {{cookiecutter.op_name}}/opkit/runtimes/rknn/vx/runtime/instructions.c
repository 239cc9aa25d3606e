/*
 * Instructions on registers. All numbers are computed as double: exact for integers of up to 32
 * bits and sums of their products.
 */
#include <math.h>
#include <string.h>

#include "runtime.h"

/* Reports a lane that a register does not have; what a device does with it is not known. */
static bool has_lane(const struct __opkit_operand *operand, int lane, const void *caller)
{
    if (lane < __opkit_lane_count(operand)) {
        return true;
    }
    __opkit_event("instruction: names a lane beyond the register", -1, lane, 0, 0, 1, caller);
    return false;
}

/* Writes a lane, rounded and saturated as the modifier says. */
static void store_lane(const struct __opkit_operand *destination, int lane, double value, int info,
                       const void *caller)
{
    if (has_lane(destination, lane, caller)) {
        __opkit_store((char *)destination->data + lane * destination->element_size,
                      destination->type, value, __OPKIT_ROUNDING(info), __OPKIT_SATURATES(info));
    }
}

enum {
    TERMS = 16
};
enum term {
    UNUSED,
    ADD,
    SUBTRACT,
    ADD_A
};

/* Term k's field of `width` bits in an array of such fields. */
static unsigned field(const uint32_t *words, int k, int width)
{
    int bit = k * width;
    return words[bit / 32] >> bit % 32 & ((1u << width) - 1);
}

/*
 * The element at a bin: lanes of a small vector that is not packed are 32 bits apart, so that every
 * second bin of halves is empty.
 */
static double load_bin(const struct __opkit_operand *operand, unsigned number, const void *caller)
{
    int place = (int)number * operand->element_size;

    return place % operand->spacing == 0 && has_lane(operand, place / operand->spacing, caller)
               ? __opkit_lane(operand, place / operand->spacing)
               : 0;
}

void __opkit_dot_product(int outputs, const struct __opkit_operand *destination,
                         const struct __opkit_operand *a, const struct __opkit_operand *b, int info,
                         const void *configuration)
{
    const struct __opkit_operand *operands[] = {a, b};
    const void *caller = __builtin_return_address(0);
    uint32_t words[16];
    double sums[8] = {0};
    int constant_type;

    memcpy(words, configuration, sizeof words);
    constant_type = words[7] >> 8 & 7;
    for (int k = 0; k < TERMS; k++) {
        unsigned mode = field(&words[0], k, 2);
        unsigned a_select = field(&words[1], k, 2);
        unsigned b_select = field(&words[4], k, 2);
        double term;

        if (mode == UNUSED) {
            continue;
        }
        if (a_select > 1 || (mode != ADD_A && b_select > 2)) {
            __opkit_event("dot product: selects what is not there", -1, k, 0, 0, 1, caller);
            continue;
        }
        if (__opkit_size_of(constant_type) > 4 ||
            (mode != ADD_A && b_select == 2 && __opkit_size_of(constant_type) > 2)) {
            __opkit_event("dot product: constants of 32 bits", -1, k, 0, 0, 1, caller);
            continue;
        }
        term = load_bin(operands[a_select], field(&words[2], k, 4), caller);
        if (mode != ADD_A) {
            if (b_select == 2) {
                uint16_t constant = (uint16_t)field(&words[8], k, 16);
                term *= __opkit_load(&constant, constant_type);
            } else {
                term *= load_bin(operands[b_select], field(&words[5], k, 4), caller);
            }
        }
        sums[k * outputs / TERMS] += mode == SUBTRACT ? -term : term;
    }
    for (int i = 0, lane = __OPKIT_START_BIN(info); i < outputs && lane <= __OPKIT_END_BIN(info);
         i++, lane++) {
        store_lane(destination, lane, ldexp(sums[i], -(int)(words[7] & 31)), info, caller);
    }
}

static double minimum(double a, double b)
{
    return b < a ? b : a;
}

static double maximum(double a, double b)
{
    return a < b ? b : a;
}

static double median(double a, double b, double c)
{
    return maximum(minimum(a, b), minimum(maximum(a, b), c));
}

/* Of three lanes of each of three registers. */
static double filter_3x3(const struct __opkit_operand *const operands[3], int lane, int filter)
{
    double values[9];

    for (int i = 0; i < 9; i++) {
        double value = __opkit_lane(operands[i / 3], lane + i % 3);
        int place = i;
        while (place > 0 && values[place - 1] > value) {
            values[place] = values[place - 1];
            place--;
        }
        values[place] = value;
    }
    return values[filter == __OPKIT_FILTER_MAX ? 8 : filter == __OPKIT_FILTER_MIN ? 0 : 4];
}

/* A value of one element serves every lane. */
static double load_lane_or_scalar(const struct __opkit_operand *operand, int lane)
{
    return __opkit_lane(operand, __opkit_lane_count(operand) == 1 ? 0 : lane);
}

static double extract_bits(const struct __opkit_operand *source, unsigned offset, unsigned width)
{
    unsigned char bytes[__OPKIT_REGISTER_SIZE + 8] = {0};
    uint64_t bits;

    if (width > 32 || offset + width > 8 * __OPKIT_REGISTER_SIZE) {
        return 0;
    }
    for (int lane = 0;
         lane < __opkit_lane_count(source) && (lane + 1) * source->spacing <= __OPKIT_REGISTER_SIZE;
         lane++) {
        memcpy(bytes + lane * source->spacing,
               (const char *)source->data + lane * source->element_size,
               (size_t)source->element_size);
    }
    memcpy(&bits, bytes + offset / 8, sizeof bits);
    return (double)(bits >> offset % 8 & (((uint64_t)1 << width) - 1));
}

static double interpolate(double a, double b, double fraction)
{
    return a + (b - a) * fraction;
}

static double all_ones(int type)
{
    return type == __OPKIT_FLOAT32 || type == __OPKIT_FLOAT16 || type == __OPKIT_INT32 ||
                   type == __OPKIT_INT16 || type == __OPKIT_INT8
               ? -1
               : ldexp(1, 8 * __opkit_size_of(type)) - 1;
}

/* Between four elements, of which two are in `upper` and two in `lower`. */
static double bilinear(const struct __opkit_operand *upper, const struct __opkit_operand *lower,
                       const struct __opkit_operand *fractions, int lane)
{
    double x = __opkit_lane(fractions, 0);
    double above = interpolate(__opkit_lane(upper, lane), __opkit_lane(upper, lane + 1), x);
    double below = interpolate(__opkit_lane(lower, lane), __opkit_lane(lower, lane + 1), x);

    return interpolate(above, below, __opkit_lane(fractions, 1));
}

/* One lane; `b` and `c` are the operands after `a`. */
static double compute(enum __opkit_instruction instruction, const struct __opkit_operand *a_operand,
                      const struct __opkit_operand *b_operand,
                      const struct __opkit_operand *c_operand, int lane, int info, int type)
{
    double a = __opkit_lane(a_operand, lane);
    double b = load_lane_or_scalar(b_operand, lane);
    double c = load_lane_or_scalar(c_operand, lane);
    double a1 = __opkit_lane(a_operand, lane + 1);
    double a2 = __opkit_lane(a_operand, lane + 2);

    switch (instruction) {
    case __OPKIT_VERT_MAX3:
        return maximum(maximum(a, b), c);
    case __OPKIT_VERT_MIN3:
        return minimum(minimum(a, b), c);
    case __OPKIT_VERT_MED3:
        return median(a, b, c);
    case __OPKIT_HORZ_MAX3:
        return maximum(maximum(a, a1), a2);
    case __OPKIT_HORZ_MIN3:
        return minimum(minimum(a, a1), a2);
    case __OPKIT_HORZ_MED3:
        return median(a, a1, a2);
    case __OPKIT_CLAMP:
        if (info & 2) {
            return a >= b && a <= c ? 0 : all_ones(type);
        }
        return a < b ? b : a > c ? c : a;
    case __OPKIT_ABS_DIFF:
        return fabs(a - b);
    case __OPKIT_BIT_EXTRACT:
        return extract_bits(a_operand, (unsigned)b, (unsigned)c);
    case __OPKIT_MUL_SHIFT:
        return floor(ldexp(a * b, -(int)c));
    case __OPKIT_ACC_SQUARE:
        return a + floor(ldexp(b * b, -(int)c));
    case __OPKIT_LERP:
        return interpolate(a, b, c);
    case __OPKIT_BILINEAR:
        return bilinear(a_operand, b_operand, c_operand, lane);
    case __OPKIT_ADD3:
        return a + b + c;
    case __OPKIT_FILTER3X3:
        return filter_3x3((const struct __opkit_operand *const[]){a_operand, b_operand, c_operand},
                          lane, __OPKIT_FILTER(info));
    }
    return 0;
}

void __opkit_lanewise(enum __opkit_instruction instruction,
                      const struct __opkit_operand *destination, const struct __opkit_operand *a,
                      const struct __opkit_operand *b, const struct __opkit_operand *c, int info)
{
    /* Which operands an instruction takes lane by lane, and how many lanes further it looks. */
    static const struct {
        int first, last, neighbors;
    } LANES[] = {
        [__OPKIT_VERT_MAX3] = {0, 2, 0},   [__OPKIT_VERT_MIN3] = {0, 2, 0},
        [__OPKIT_VERT_MED3] = {0, 2, 0},   [__OPKIT_HORZ_MAX3] = {0, 0, 2},
        [__OPKIT_HORZ_MIN3] = {0, 0, 2},   [__OPKIT_HORZ_MED3] = {0, 0, 2},
        [__OPKIT_CLAMP] = {0, 2, 0},       [__OPKIT_ABS_DIFF] = {0, 1, 0},
        [__OPKIT_BIT_EXTRACT] = {1, 2, 0}, [__OPKIT_MUL_SHIFT] = {0, 2, 0},
        [__OPKIT_ACC_SQUARE] = {0, 2, 0},  [__OPKIT_LERP] = {0, 2, 0},
        [__OPKIT_BILINEAR] = {0, 1, 1},    [__OPKIT_ADD3] = {0, 2, 0},
        [__OPKIT_FILTER3X3] = {0, 2, 2},
    };
    const struct __opkit_operand *operands[] = {a, b, c};
    const void *caller = __builtin_return_address(0);
    int start = __OPKIT_START_BIN(info);

    for (int lane = start; lane <= __OPKIT_END_BIN(info); lane++) {
        int from = lane - start + __OPKIT_SOURCE_BIN(info);
        for (int i = LANES[instruction].first; i <= LANES[instruction].last; i++) {
            if (__opkit_lane_count(operands[i]) > 1) { /* one element serves every lane */
                has_lane(operands[i], from + LANES[instruction].neighbors, caller);
            }
        }
        store_lane(destination, lane, compute(instruction, a, b, c, from, info, destination->type),
                   info, caller);
    }
}
