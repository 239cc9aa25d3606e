/* Decoder for JSON strings: RKNN-Toolkit2 writes them into models as values of text attributes. */
#ifndef OPKIT_JSON_TEXT_H
#define OPKIT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The unread characters between the quotes. */
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

/* Reads a code point after \u: one unit, or a pair of surrogates. */
static inline bool opkit_read_code_point(struct opkit_json *json, uint32_t *code)
{
    uint32_t low;

    if (!opkit_read_hex(json, code)) {
        return false;
    }
    if (*code < 0xD800 || *code > 0xDFFF) {
        return *code != 0; /* U+0000 would terminate the C string */
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

/* Writes a code point in UTF-8. Returns the address after it. */
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

/* Reads an escape sequence after its backslash, and appends the character to `text`. */
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
 * Decodes a JSON string of `length` bytes, quotes included, to UTF-8 with a terminating zero.
 * `text` must have `length` bytes. Returns NULL, or the address of the first malformed character.
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
