/*
 * Records undefined behavior in an instrumented kernel; see opkit/build/libraries.py.
 *
 * Its compiler, clang or gcc, calls these functions with a description of the place and, for most
 * kinds, the operands: a number in the word itself if it fits, else the word is its address. A
 * static program has no instrumented kernel; the compiler's own sanitizer may define them there.
 */
#include "guarded_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef HARNESS_STATIC

struct place {
    const char *file;
    uint32_t line; /* 0: recorded before */
    uint32_t column;
};

struct type {
    uint16_t kind;
    uint16_t size; /* integer: 2 * log2(bits) + whether it is signed; float: bits */
    char name[]; /* in quotes */
};

enum {
    INTEGER,
    FLOAT,
    WORD_BITS = 8 * sizeof(uintptr_t),
    TEXT_SIZE = 48
};

/* Records a sentence once for each place. */
__attribute__((format(printf, 2, 3))) static void report(struct place *place, const char *format,
                                                         ...)
{
    const char *name = strrchr(place->file, '/');
    char what[256];
    char text[512];
    va_list arguments;

    if (place->line == 0) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%.200s:%u: %s (undefined behavior)",
             name != NULL ? name + 1 : place->file, (unsigned)place->line, what);
    guarded_memory_record("event", NULL, text);
    place->line = 0;
}

/* Writes the number in a word, or the name of its type if it does not fit; returns `text`. */
static const char *number(const struct type *type, uintptr_t word, char *text)
{
    const unsigned bits = type->kind == INTEGER ? 1U << (type->size >> 1) : type->size;
    const unsigned unused = WORD_BITS - bits;

    if (bits > WORD_BITS) {
        snprintf(text, TEXT_SIZE, "%s", type->name);
    } else if (type->kind == FLOAT && bits == 8 * sizeof(float)) {
        float value;
        memcpy(&value, &word, sizeof value); /* little-endian, as all ABIs */
        snprintf(text, TEXT_SIZE, "%g", (double)value);
    } else if (type->kind == FLOAT && bits == 8 * sizeof(double)) {
        double value;
        memcpy(&value, &word, sizeof value);
        snprintf(text, TEXT_SIZE, "%g", value);
    } else if (type->kind == INTEGER && (type->size & 1) != 0) {
        snprintf(text, TEXT_SIZE, "%jd", (intmax_t)((intptr_t)(word << unused) >> unused));
    } else {
        snprintf(text, TEXT_SIZE, "%ju", (uintmax_t)(word << unused >> unused));
    }
    return text;
}

#define HANDLER(name, ...)                                                          \
    __attribute__((visibility("default"))) void __ubsan_handle_##name(__VA_ARGS__); \
    void __ubsan_handle_##name(__VA_ARGS__)

/* ---- Arithmetic ---- */

struct operation {
    struct place place;
    const struct type *type;
};

#define OVERFLOW(name, operator)                                                     \
    HANDLER(name, struct operation *at, uintptr_t left, uintptr_t right)             \
    {                                                                                \
        char texts[2][TEXT_SIZE];                                                    \
        report(&at->place, "signed integer overflow: %s " operator " %s",            \
               number(at->type, left, texts[0]), number(at->type, right, texts[1])); \
    }
OVERFLOW(add_overflow, "+")
OVERFLOW(sub_overflow, "-")
OVERFLOW(mul_overflow, "*")
OVERFLOW(divrem_overflow, "/")

HANDLER(negate_overflow, struct operation *at, uintptr_t value)
{
    char text[TEXT_SIZE];
    report(&at->place, "signed integer overflow: -(%s)", number(at->type, value, text));
}

struct shift {
    struct place place;
    const struct type *left;
    const struct type *right;
};

HANDLER(shift_out_of_bounds, struct shift *at, uintptr_t left, uintptr_t right)
{
    char texts[2][TEXT_SIZE];
    report(&at->place, "shift of %s %s by %s", at->left->name, number(at->left, left, texts[0]),
           number(at->right, right, texts[1]));
}

struct conversion {
    struct place place;
    const struct type *from;
    const struct type *to;
};

HANDLER(float_cast_overflow, struct conversion *at, uintptr_t value)
{
    char text[TEXT_SIZE];
    report(&at->place, "%s is outside of the range of %s", number(at->from, value, text),
           at->to->name);
}

/* ---- Memory ---- */

struct element {
    struct place place;
    const struct type *array;
    const struct type *index;
};

HANDLER(out_of_bounds, struct element *at, uintptr_t index)
{
    char text[TEXT_SIZE];
    report(&at->place, "index %s is outside of %s", number(at->index, index, text),
           at->array->name);
}

struct access {
    struct place place;
    const struct type *type;
    unsigned char log_alignment;
};

HANDLER(type_mismatch_v1, struct access *at, uintptr_t address)
{
    /* Guarded blocks end at a page, and so may start where no block of libc's malloc starts. */
    const uintptr_t offset = address - guarded_memory_start(address);
    if ((offset & (((uintptr_t)1 << at->log_alignment) - 1)) != 0) {
        report(&at->place, "access of %s through a misaligned pointer", at->type->name);
    }
}

/* ---- Other values ---- */

HANDLER(load_invalid_value, struct operation *at, uintptr_t value)
{
    report(&at->place, "%ju is not a value of %s", (uintmax_t)value, at->type->name);
}

HANDLER(vla_bound_not_positive, struct operation *at, uintptr_t bound)
{
    char text[TEXT_SIZE];
    report(&at->place, "array of %s elements", number(at->type, bound, text));
}

HANDLER(invalid_builtin, struct place *at)
{
    report(at, "a built-in function of the compiler gets 0");
}

HANDLER(nonnull_arg, struct place *at)
{
    report(at, "a NULL pointer as an argument that must not be NULL");
}

HANDLER(nonnull_return_v1, void *attribute, struct place *at)
{
    (void)attribute;
    report(at, "a NULL pointer is returned, but declared as never NULL");
}

#endif
