/*
 * printf, with vectors: the types of its values are known, so they need not be those of the
 * format's lengths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* A conversion of the format: %[flags, width, precision][v lanes][length]letter. */
struct conversion {
    char start[32]; /* up to the precision */
    int lanes; /* 0: not of a vector */
    int bits; /* of an integer, by its length */
    char letter;
};

static int length_in_bits(const char *length, size_t characters)
{
    static const struct {
        const char *name;
        int bits;
    } lengths[] = {{"hh", 8}, {"hl", 32}, {"h", 16}, {"l", 64}};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (characters == strlen(lengths[i].name) &&
            memcmp(length, lengths[i].name, characters) == 0) {
            return lengths[i].bits;
        }
    }
    return 32;
}

/* Parses the conversion after a %; returns the rest of the format. */
static const char *parse(const char *format, struct conversion *conversion)
{
    size_t start = strspn(format, "-+ #0123456789.");
    size_t length;

    snprintf(conversion->start, sizeof conversion->start, "%%%.*s", (int)(start < 24 ? start : 24),
             format);
    format += start;
    conversion->lanes = 0;
    if (*format == 'v') {
        char *end;
        conversion->lanes = (int)strtol(format + 1, &end, 10);
        format = end;
    }
    length = strspn(format, "hl");
    conversion->bits = length_in_bits(format, length);
    conversion->letter = format[length];
    return format + length + (conversion->letter != '\0');
}

static bool is_float(int type)
{
    return type == __OPKIT_FLOAT16 || type == __OPKIT_FLOAT32 || type == __OPKIT_FLOAT64;
}

static void print_lane(const struct conversion *conversion, const struct __opkit_operand *value,
                       int lane)
{
    const char *element = (const char *)value->data + lane * value->element_size;
    char format[48];
    unsigned long long bits = 0;

    if (strchr("aAeEfFgG", conversion->letter) != NULL) {
        snprintf(format, sizeof format, "%s%c", conversion->start, conversion->letter);
        printf(format, __opkit_load(element, value->type));
        return;
    }
    if (value->element_size == 8) {
        memcpy(&bits, element, sizeof bits);
    } else {
        bits = (unsigned long long)(long long)__opkit_load(element, value->type);
    }
    if (strchr("sp", conversion->letter) != NULL) {
        snprintf(format, sizeof format, "%s%c", conversion->start, conversion->letter);
        printf(format, (const void *)(uintptr_t)bits);
    } else if (conversion->letter == 'c') {
        snprintf(format, sizeof format, "%sc", conversion->start);
        printf(format, (int)bits);
    } else {
        int unused = 64 - conversion->bits;
        bits <<= unused;
        bits = strchr("di", conversion->letter) != NULL
                   ? (unsigned long long)((long long)bits >> unused)
                   : bits >> unused;
        snprintf(format, sizeof format, "%sll%c", conversion->start, conversion->letter);
        printf(format, bits);
    }
}

/* Whether a value has the type of a conversion: %s is for literals, which the library has. */
static bool is_printable(const struct conversion *conversion, const struct __opkit_operand *value)
{
    int lanes = (conversion->lanes == 0 ? 1 : conversion->lanes) + (conversion->lanes == 3);
    bool is_for_float = strchr("aAeEfFgG", conversion->letter) != NULL;
    const void *text;

    if (__opkit_lane_count(value) != lanes || is_for_float != is_float(value->type)) {
        return false;
    }
    if (conversion->letter != 's') {
        return true;
    }
    if (value->element_size != sizeof text) {
        return false;
    }
    memcpy(&text, value->data, sizeof text);
    return __opkit_in_library(text);
}

int __opkit_print(const struct __opkit_operand *values, int count)
{
    const char *format;
    int next = 1;

    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    memcpy(&format, values[0].data, sizeof format);
    while (*format != '\0') {
        struct conversion conversion;
        if (*format != '%' || format[1] == '%') {
            putchar(*format);
            format += *format == '%' ? 2 : 1;
            continue;
        }
        format = parse(format + 1, &conversion);
        if (next == count || conversion.letter == '\0' ||
            strchr("aAeEfFgGdiouxXcsp", conversion.letter) == NULL) {
            __opkit_event("printf without a value, or with an unknown conversion", NULL, 0, 0, 0, 1,
                          __builtin_return_address(0));
            return -1;
        }
        if (!is_printable(&conversion, &values[next])) {
            __opkit_event("printf of another type", NULL, 0, 0, 0, 1, __builtin_return_address(0));
            return -1;
        }
        for (int lane = 0; lane == 0 || lane < conversion.lanes; lane++) {
            fputs(lane > 0 ? "," : "", stdout);
            print_lane(&conversion, &values[next], lane);
        }
        next++;
    }
    return 0;
}
