/*
 * Instructions on registers. A double holds every element exactly, and a long double the product of
 * two integers of 32 bits.
 */
#include <math.h>
#include <string.h>

#include "vx.h"

enum {
    BIT_FIELDS = 8 /* of BitExtract */
};

/* Reports a lane that a register does not have; what a device does with it is not known. */
static bool has_lane(const struct __opkit_operand *operand, int lane, const void *caller)
{
    if (lane >= 0 && lane < __opkit_lane_count(operand)) {
        return true;
    }
    __opkit_event("instruction: names a lane beyond the register", NULL, lane, 0, 0, 1, caller);
    return false;
}

/* Writes a lane, rounded and saturated as the modifier says. */
static void store_lane(const struct __opkit_operand *destination, int lane, long double value,
                       int info, const void *caller)
{
    if (has_lane(destination, lane, caller)) {
        __opkit_store((char *)destination->data + lane * destination->element_size,
                      destination->type, value, __OPKIT_ROUNDING(info), __OPKIT_SATURATES(info));
    }
}

/* Reports a modifier that says nothing that is known. */
static void check_modifier(int info, const void *caller)
{
    if (info == __OPKIT_DEFAULT_MODIFIER) {
        __opkit_event("instruction: unknown: what VXC_DEFAULT_MODIFIER stands for", NULL, 0, 0, 0,
                      1, caller);
    }
}

/*
 * The bytes of a register; returns how many there are. The lanes of a small vector that is not
 * packed are 32 bits each: that integers are sign-extended to them, and halves followed by zeros,
 * is inferred.
 */
static int register_image(const struct __opkit_operand *operand,
                          unsigned char bytes[__OPKIT_REGISTER_SIZE])
{
    int lanes = __OPKIT_REGISTER_SIZE / operand->spacing;

    lanes = lanes < __opkit_lane_count(operand) ? lanes : __opkit_lane_count(operand);
    memset(bytes, 0, __OPKIT_REGISTER_SIZE);
    for (int lane = 0; lane < lanes; lane++) {
        if (operand->type == __OPKIT_INT8 || operand->type == __OPKIT_INT16) {
            memset(bytes + lane * operand->spacing, __opkit_lane(operand, lane) < 0 ? 0xff : 0,
                   (size_t)operand->spacing);
        }
        memcpy(bytes + lane * operand->spacing,
               (const char *)operand->data + lane * operand->element_size,
               (size_t)operand->element_size);
    }
    return lanes * operand->spacing;
}

static bool is_float(int type)
{
    return type == __OPKIT_FLOAT32 || type == __OPKIT_FLOAT16 || type == __OPKIT_FLOAT64;
}

/* ---- Dot products ---- */

enum mode {
    UNUSED,
    ADD,
    SUBTRACT,
    ADD_A
};
enum {
    CONSTANT = 2 /* where B comes from; less than it: one of the registers */
};
/* What an output adds: A's bin times B's bin, or times a constant. */
struct term {
    enum mode mode;
    unsigned a_select, a_bin;
    unsigned b_select, b_bin;
    uint16_t constant;
};

__extension__ typedef __int128 whole;

/* Products of integers are exact, and their sum, too; all others are in `rest`. */
struct sum {
    whole integers;
    double rest;
};

static void add_product(struct sum *sum, double a, double b, bool are_integers)
{
    if (are_integers) {
        sum->integers += (whole)(int64_t)a * (int64_t)b;
    } else {
        sum->rest += a * b;
    }
}

static whole shift_right(whole number, int shift, int rounding)
{
    whole result = number >> shift;
    whole remainder = number - result * ((whole)1 << shift);
    whole half = ((whole)1 << shift) / 2;

    switch (rounding) {
    case __OPKIT_TOWARD_ZERO:
        return result + (number < 0 && remainder > 0);
    case __OPKIT_TOWARD_INFINITY:
        return result + (remainder > 0);
    default:
        return result + (remainder > half || (remainder == half && half > 0 && (result & 1) != 0));
    }
}

/*
 * Of a sum of products. By hand: the compiler's own conversion is in a library that hides functions
 * of numbers.c, which kernels call.
 */
static double to_double(whole number)
{
    return (double)(int64_t)(number >> 32) * 0x1p32 + (double)(uint32_t)number;
}

/* A sum, shifted; for a destination of integers, all bits that it can show are right. */
static long double shifted_sum(const struct sum *sum, int shift, int type, int info)
{
    whole number;

    if (sum->rest != 0 || is_float(type)) {
        return ldexp(sum->rest + to_double(sum->integers), -shift);
    }
    number = shift_right(sum->integers, shift, __OPKIT_ROUNDING(info));
    if (__OPKIT_SATURATES(info)) {
        return number > INT64_MAX ? INT64_MAX : number < INT64_MIN ? INT64_MIN : (int64_t)number;
    }
    return (int64_t)(uint64_t)number;
}

/* Term k's field of `width` bits in an array of such fields; one may lie in two words. */
static unsigned field(const uint32_t *words, int k, int width)
{
    int bit = k * width;
    uint64_t both = words[bit / 32];

    if (bit % 32 + width > 32) {
        both |= (uint64_t)words[bit / 32 + 1] << 32;
    }
    return (unsigned)(both >> bit % 32) & ((1u << width) - 1);
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

/*
 * What mode 3 adds: a bin of A in the type of the accumulator, whatever A's own is. Very likely:
 * with 32 bits, published kernels take an addend out of 16-bit lanes so, and values out of small
 * vectors that are not packed. That a whole lane of integers is taken as a float, or the other way
 * round, is not known of any.
 */
static double load_addend(const struct __opkit_operand *operand, unsigned number, int type,
                          const void *caller)
{
    unsigned char bytes[__OPKIT_REGISTER_SIZE];
    int size = __opkit_size_of(type), place = (int)number * size;

    if (operand->element_size == size && is_float(operand->type) != is_float(type)) {
        __opkit_event("dot product: unknown: adds elements in an accumulator of another kind", NULL,
                      (int)number, 0, 0, 1, caller);
    }
    if (place + size > register_image(operand, bytes)) {
        has_lane(operand, __opkit_lane_count(operand), caller);
        return 0;
    }
    return __opkit_load(bytes + place, type);
}

/* The layout of 16 terms. Certain: the vendor's header. */
static struct term term_of_16(const uint32_t *words, int k)
{
    return (struct term){
        .mode = field(&words[0], k, 2),
        .a_select = field(&words[1], k, 2),
        .a_bin = field(&words[2], k, 4),
        .b_select = field(&words[4], k, 2),
        .b_bin = field(&words[5], k, 4),
        .constant = (uint16_t)field(&words[8], k, 16),
    };
}

/*
 * The layout of 32 terms, whose B is a constant of 8 bits; the bins go through both registers of A.
 * Likely: published tables are exact weights of sums, of bits and of bilinear interpolation so.
 */
static struct term term_of_32(const uint32_t *words, int k)
{
    unsigned bin = field(&words[2], k, 5);

    return (struct term){
        .mode = field(&words[0], k, 2),
        .a_select = bin / 16,
        .a_bin = bin % 16,
        .b_select = CONSTANT,
        .constant = (uint16_t)field(&words[8], k, 8),
    };
}

/* Reports a term that cannot be computed. */
static bool is_term_valid(const struct term *term, int k, enum __opkit_dot_form form, int constants,
                          const void *caller)
{
    unsigned registers = form == __OPKIT_DOT_WIDE ? 1 : 2; /* those of B */
    int constant_size = form == __OPKIT_DOT_32 ? 1 : 2;

    if (term->mode == ADD_A && form == __OPKIT_DOT_32) {
        __opkit_event("dot product: unknown: adds A alone, with 32 terms", NULL, k, 0, 0, 1,
                      caller);
        return false;
    }
    if (term->a_select > 1 ||
        (term->mode != ADD_A && term->b_select != CONSTANT && term->b_select >= registers)) {
        __opkit_event("dot product: selects what is not there", NULL, k, 0, 0, 1, caller);
        return false;
    }
    if (term->mode != ADD_A && term->b_select == CONSTANT &&
        __opkit_size_of(constants) > constant_size) {
        __opkit_event(form == __OPKIT_DOT_32 ? "dot product: constants of more than 8 bits"
                                             : "dot product: constants of 32 bits",
                      NULL, k, 0, 0, 1, caller);
        return false;
    }
    return true;
}

/*
 * Adds a term: A's bin and, but for mode 3, B's bin or the term's constant. A constant of 0 makes 0
 * of anything. Likely: published kernels clear a register so that nothing has set.
 */
static void add_term(struct sum *sum, const struct term *term, int types,
                     const struct __opkit_operand *const a_operands[2],
                     const struct __opkit_operand *const b_operands[2], const void *caller)
{
    int accumulator = types >> 12 & 7, constants = types >> 8 & 7;
    const struct __opkit_operand *first = a_operands[term->a_select];
    double a;

    if (term->mode == ADD_A) {
        add_product(sum, load_addend(first, term->a_bin, accumulator, caller), 1,
                    !is_float(accumulator));
        return;
    }
    a = load_bin(first, term->a_bin, caller) * (term->mode == SUBTRACT ? -1 : 1);
    if (term->b_select < CONSTANT) {
        const struct __opkit_operand *second = b_operands[term->b_select];
        add_product(sum, a, load_bin(second, term->b_bin, caller),
                    !is_float(first->type) && !is_float(second->type));
        return;
    }
    double constant = __opkit_load(&term->constant, constants);
    if (constant != 0) {
        add_product(sum, a, constant, !is_float(first->type) && !is_float(constants));
    }
}

void __opkit_dot_product(enum __opkit_dot_form form, int outputs,
                         const struct __opkit_operand *destination, const struct __opkit_operand *a,
                         const struct __opkit_operand *b, const struct __opkit_operand *c, int info,
                         const void *configuration)
{
    const struct __opkit_operand *const a_operands[] = {a, b};
    const struct __opkit_operand *const b_operands[] = {form == __OPKIT_DOT_WIDE ? c : a, b};
    const void *caller = __builtin_return_address(0);
    int terms = form == __OPKIT_DOT_32 ? 32 : 16;
    uint32_t words[16];
    struct sum sums[16] = {{0, 0}};

    memcpy(words, configuration, sizeof words);
    check_modifier(info, caller);
    if (__OPKIT_SOURCE_BIN(info) != 0) {
        /* Of two published kernels one is right only with it, the other only without. */
        __opkit_event("dot product: unknown: what SourceBin does; it is ignored", NULL,
                      __OPKIT_SOURCE_BIN(info), 0, 0, 1, caller);
    }
    for (int k = 0; k < terms; k++) {
        struct term term = form == __OPKIT_DOT_32 ? term_of_32(words, k) : term_of_16(words, k);

        if (term.mode != UNUSED && is_term_valid(&term, k, form, words[7] >> 8 & 7, caller)) {
            add_term(&sums[k * outputs / terms], &term, (int)words[7], a_operands, b_operands,
                     caller);
        }
    }
    for (int i = 0, lane = __OPKIT_START_BIN(info); i < outputs && lane <= __OPKIT_END_BIN(info);
         i++, lane++) {
        store_lane(destination, lane,
                   shifted_sum(&sums[i], (int)(words[7] & 31), destination->type, info), info,
                   caller);
    }
}

/* ---- Lane by lane ---- */

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

/*
 * Of the 256 bits {b, a}, a being the low half, as many as byte lane + 8 of c says, from the bit on
 * that its byte `lane` says. Certain: the vendor's header.
 */
static double extract_bits(const struct __opkit_operand *const operands[3], int lane)
{
    unsigned char bytes[2 * __OPKIT_REGISTER_SIZE + sizeof(uint64_t)] = {0};
    unsigned char places[__OPKIT_REGISTER_SIZE];
    unsigned offset, width;
    uint64_t bits;

    register_image(operands[2], places);
    offset = places[lane];
    width = places[lane + BIT_FIELDS] < 32 ? places[lane + BIT_FIELDS] : 32;
    register_image(operands[0], bytes);
    register_image(operands[1], bytes + __OPKIT_REGISTER_SIZE);
    memcpy(&bits, bytes + offset / 8, sizeof bits);
    return (double)(bits >> offset % 8 & (((uint64_t)1 << width) - 1));
}

static double interpolate(double a, double b, double fraction)
{
    return (1 - fraction) * a + fraction * b;
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

/* Lanes 0 to 3 are lengths, 4 to 7 angles: of the elements 0 to 3 of a and b. */
static double magnitude_or_phase(const struct __opkit_operand *a_operand,
                                 const struct __opkit_operand *b_operand, int lane)
{
    double a = __opkit_lane(a_operand, lane % 4), b = __opkit_lane(b_operand, lane % 4);

    return lane < 4 ? sqrt(a * a + b * b) : atan(b / a);
}

/* One lane; `b` and `c` are the operands after `a`. */
static long double compute(enum __opkit_instruction instruction,
                           const struct __opkit_operand *const operands[3], int lane, int info)
{
    double a = __opkit_lane(operands[0], lane);
    double b = load_lane_or_scalar(operands[1], lane);
    double c = load_lane_or_scalar(operands[2], lane);
    double a1 = __opkit_lane(operands[0], lane + 1);
    double a2 = __opkit_lane(operands[0], lane + 2);

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
        return a < b ? b : a > c ? c : a;
    case __OPKIT_ABS_DIFF:
        return fabs(a - b);
    case __OPKIT_BIT_EXTRACT:
        return lane < BIT_FIELDS ? extract_bits(operands, lane) : 0;
    case __OPKIT_MUL_SHIFT:
        return floorl(ldexpl((long double)a * b, -(int)c));
    case __OPKIT_ACC_SQUARE:
        return a + floorl(ldexpl((long double)b * b, -(int)c));
    case __OPKIT_LERP:
        return interpolate(a, b, c);
    case __OPKIT_LERP_NEIGHBORS:
        return interpolate(a, a1, b);
    case __OPKIT_BILINEAR:
        return bilinear(operands[0], operands[1], operands[2], lane);
    case __OPKIT_ADD3:
        return a + b + c;
    case __OPKIT_SELECT_ADD:
        return __opkit_lane(operands[0], (int)c) + __opkit_lane(operands[1], (int)c);
    case __OPKIT_MAG_PHASE:
        return magnitude_or_phase(operands[0], operands[1], lane);
    case __OPKIT_FILTER3X3:
        return filter_3x3(operands, lane, __OPKIT_FILTER(info));
    }
    return 0;
}

/* What the instructions read; all lanes of an operand that are read must be there. */
static const struct {
    int first, last; /* the operands that are read lane by lane; 0, -1: none */
    int neighbors; /* how many lanes further they are read */
    int max_lanes; /* of the result; 0: those of a register */
} LANES[] = {
    [__OPKIT_VERT_MAX3] = {0, 2, 0, 0},
    [__OPKIT_VERT_MIN3] = {0, 2, 0, 0},
    [__OPKIT_VERT_MED3] = {0, 2, 0, 0},
    [__OPKIT_HORZ_MAX3] = {0, 0, 2, 0},
    [__OPKIT_HORZ_MIN3] = {0, 0, 2, 0},
    [__OPKIT_HORZ_MED3] = {0, 0, 2, 0},
    [__OPKIT_CLAMP] = {0, 2, 0, 0},
    [__OPKIT_ABS_DIFF] = {0, 1, 0, 0},
    [__OPKIT_BIT_EXTRACT] = {0, -1, 0, BIT_FIELDS},
    [__OPKIT_MUL_SHIFT] = {0, 2, 0, 0},
    [__OPKIT_ACC_SQUARE] = {0, 2, 0, 0},
    [__OPKIT_LERP] = {0, 2, 0, 0},
    [__OPKIT_LERP_NEIGHBORS] = {0, 0, 1, 0},
    [__OPKIT_BILINEAR] = {0, 1, 1, 0},
    [__OPKIT_ADD3] = {0, 2, 0, 0},
    [__OPKIT_SELECT_ADD] = {2, 2, 0, 8},
    [__OPKIT_MAG_PHASE] = {0, -1, 0, 8},
    [__OPKIT_FILTER3X3] = {0, 2, 2, 0},
};

/* Whether all that a lane of the result is computed from is there; an event if not. */
static bool has_sources(enum __opkit_instruction instruction,
                        const struct __opkit_operand *const operands[3], int lane,
                        const void *caller)
{
    bool complete = true;

    if (LANES[instruction].max_lanes > 0 && lane >= LANES[instruction].max_lanes) {
        __opkit_event("instruction: has no such lane", NULL, lane, 0, 0, 1, caller);
        return false;
    }
    for (int i = LANES[instruction].first; i <= LANES[instruction].last; i++) {
        if (__opkit_lane_count(operands[i]) > 1) { /* one element serves every lane */
            complete &= has_lane(operands[i], lane + LANES[instruction].neighbors, caller);
        }
    }
    if (instruction == __OPKIT_SELECT_ADD) {
        int selected = (int)__opkit_lane(operands[2], lane);
        complete &=
            has_lane(operands[0], selected, caller) && has_lane(operands[1], selected, caller);
    }
    if (instruction == __OPKIT_MAG_PHASE) {
        complete &=
            has_lane(operands[0], lane % 4, caller) && has_lane(operands[1], lane % 4, caller);
    }
    return complete;
}

/*
 * Clamp with EnableBool: all bits of a lane inside of the range, none outside. Very likely: the
 * vendor's comment has it the other way round, but published kernels are right only so; the bits of
 * a half, too.
 */
static void store_inside(const struct __opkit_operand *destination,
                         const struct __opkit_operand *const operands[3], int from, int lane)
{
    double value = __opkit_lane(operands[0], from);
    bool inside = value >= load_lane_or_scalar(operands[1], from) &&
                  value <= load_lane_or_scalar(operands[2], from);

    if (lane < __opkit_lane_count(destination)) {
        memset((char *)destination->data + lane * destination->element_size, inside ? 0xff : 0,
               (size_t)destination->element_size);
    }
}

void __opkit_lanewise(enum __opkit_instruction instruction,
                      const struct __opkit_operand *destination, const struct __opkit_operand *a,
                      const struct __opkit_operand *b, const struct __opkit_operand *c, int info)
{
    const struct __opkit_operand *const operands[] = {a, b, c};
    const void *caller = __builtin_return_address(0);
    int start = __OPKIT_START_BIN(info);

    check_modifier(info, caller);
    if (instruction == __OPKIT_MAG_PHASE &&
        (!is_float(destination->type) || __OPKIT_RANGE_PI(info))) {
        __opkit_event("MagPhase: unknown: the unit of an angle", NULL, 0, 0, 0, 1, caller);
    }
    for (int lane = start; lane <= __OPKIT_END_BIN(info); lane++) {
        int from = lane - start + __OPKIT_SOURCE_BIN(info);

        has_sources(instruction, operands, from, caller);
        if (instruction == __OPKIT_CLAMP && __OPKIT_ENABLE_BOOL(info)) {
            has_lane(destination, lane, caller);
            store_inside(destination, operands, from, lane);
        } else {
            store_lane(destination, lane, compute(instruction, operands, from, info), info, caller);
        }
    }
}
