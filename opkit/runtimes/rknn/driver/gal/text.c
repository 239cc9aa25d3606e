/* Strings. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "gal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gcoOS_Print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

enum gal_status gcoOS_PrintStrVSafe(char *text, size_t size, uint32_t *length, const char *format,
                                    va_list arguments)
{
    const uint32_t offset = length != NULL ? *length : 0;

    if (offset < size) {
        const int added = vsnprintf(text + offset, size - offset, format, arguments);
        if (length != NULL && added > 0) {
            *length = offset + (uint32_t)added;
        }
    }
    return GAL_OK;
}

enum gal_status gcoOS_PrintStrSafe(char *text, size_t size, uint32_t *length, const char *format,
                                   ...)
{
    va_list arguments;

    va_start(arguments, format);
    const enum gal_status status = gcoOS_PrintStrVSafe(text, size, length, format, arguments);
    va_end(arguments);
    return status;
}

enum gal_status gcoOS_StrCatSafe(char *text, size_t size, const char *added)
{
    const size_t length = strnlen(text, size);

    return gcoOS_StrCopySafe(text + length, size - length, added);
}

enum gal_status gcoOS_StrCopySafe(char *text, size_t size, const char *source)
{
    if (size > 0) {
        const size_t length = strnlen(source, size - 1);
        memcpy(text, source, length);
        text[length] = '\0';
    }
    return GAL_OK;
}

static enum gal_status compared(int difference)
{
    return difference == 0 ? GAL_OK : difference > 0 ? GAL_GREATER : GAL_SMALLER;
}

enum gal_status gcoOS_StrCmp(const char *left, const char *right)
{
    return compared(strcmp(left, right));
}

enum gal_status gcoOS_StrNCmp(const char *left, const char *right, size_t size)
{
    return compared(strncmp(left, right, size));
}

enum gal_status gcoOS_MemCmp(const void *left, const void *right, size_t size)
{
    return compared(memcmp(left, right, size));
}

enum gal_status gcoOS_StrDup(void *os, const char *text, char **copy)
{
    (void)os;
    *copy = strdup(text);
    return *copy != NULL ? GAL_OK : GAL_NO_MEMORY;
}

enum gal_status gcoOS_StrStr(char *text, const char *part, char **found)
{
    char *position = strstr(text, part);

    if (found != NULL) {
        *found = position;
    }
    return position != NULL ? GAL_TRUE : GAL_OK;
}

enum gal_status gcoOS_StrFindReverse(char *text, int8_t character, char **found)
{
    char *position = strrchr(text, character);

    if (found != NULL) {
        *found = position;
    }
    return position != NULL ? GAL_OK : GAL_NOT_FOUND;
}

enum gal_status gcoOS_StrToInt(const char *text, int *value)
{
    *value = atoi(text);
    return GAL_OK;
}
