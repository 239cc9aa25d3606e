/* Texts as RKNN-Toolkit2 writes them into a model: as strings of JSON. */
#ifndef OPKIT_JSON_TEXT_H
#define OPKIT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What is left to read of the characters between the quotes. */
struct opkit_json {
    const char *next;
    const char *end;
};

/* Reads the four hexadecimal digits of \uXXXX. */
static inline bool opkit_read_hex(struct opkit_json *json, uint32_t *unit)
{
    static const char DIGITS[] = "0123456789abcdef0123456789ABCDEF";

    *unit = 0;
    for (int i = 0; i < 4; i++) {
        const char *digit =
            json->next < json->end ? memchr(DIGITS, *json->next, sizeof DIGITS - 1) : NULL;
        if (digit == NULL) {
            return false;
        }
        *unit = *unit * 16 + (uint32_t)(digit - DIGITS) % 16;
        json->next++;
    }
    return true;
}

/* Reads what follows \u: a character, or the two surrogates of one. */
static inline bool opkit_read_code_point(struct opkit_json *json, uint32_t *code)
{
    uint32_t low;

    if (!opkit_read_hex(json, code)) {
        return false;
    }
    if (*code < 0xD800 || *code > 0xDFFF) {
        return *code != 0; /* which would end the text in C */
    }
    if (*code > 0xDBFF || json->end - json->next < 2 || memcmp(json->next, "\\u", 2) != 0) {
        return false;
    }
    json->next += 2;
    if (!opkit_read_hex(json, &low) || low < 0xDC00 || low > 0xDFFF) {
        return false;
    }
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* Writes a character in UTF-8, and returns the place behind it. */
static inline char *opkit_write_utf8(uint32_t code, char *text)
{
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t FIRST[] = {0x00, 0xC0, 0xE0, 0xF0};

    *text++ = (char)(FIRST[more] | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; i--) {
        *text++ = (char)(0x80 | (code >> (6 * i) & 0x3F));
    }
    return text;
}

/* Reads what follows a backslash, and moves the place to write at. */
static inline bool opkit_read_escape(struct opkit_json *json, char **text)
{
    static const char NAMES[] = "\"\\/bfnrt";
    static const char MEANINGS[] = "\"\\/\b\f\n\r\t";
    uint32_t code;

    if (json->next == json->end) {
        return false;
    }
    const char name = *json->next++;
    const char *found = memchr(NAMES, name, sizeof NAMES - 1);
    if (found != NULL) {
        *(*text)++ = MEANINGS[found - NAMES];
        return true;
    }
    if (name != 'u' || !opkit_read_code_point(json, &code)) {
        return false;
    }
    *text = opkit_write_utf8(code, *text);
    return true;
}

/*
 * Decodes the `length` bytes of a string of JSON, its quotes included, into `text`, which has room
 * for as many: UTF-8, and a zero behind it. Returns NULL, or where the string is malformed.
 */
static inline const char *opkit_decode_json(const char *string, size_t length, char *text)
{
    struct opkit_json json = {string + 1, string + length - 1};

    if (length < 2 || string[0] != '"' || *json.end != '"') {
        return string;
    }
    while (json.next < json.end) {
        const char *start = json.next++;
        if ((uint8_t)*start < ' ' || *start == '"') {
            return start;
        }
        if (*start != '\\') {
            *text++ = *start;
        } else if (!opkit_read_escape(&json, &text)) {
            return start;
        }
    }
    *text = '\0';
    return NULL;
}

#endif
