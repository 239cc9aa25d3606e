/*
 * malloc, free and libc's functions that return memory from malloc, for the operator.
 *
 * The runtime's library is the first dependency of an operator's library. Loaded with
 * RTLD_DEEPBIND, the operator calls these functions; the rest of the process calls libc's. In a
 * static program the operator's objects call them by the names in guarded_malloc.h.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "guarded_memory.h"
#include "libc_memory.h"
#include "profile.h"

/* The address in the operator to which its call returns. */
#define CALLER __builtin_return_address(0)

/* Returns a call's new memory, after the system's work for it. */
static void *touched(void *memory, size_t size)
{
    profile_touch(memory, size);
    return memory;
}

/* Returns memory of libc; an alignment of 0 means malloc's. */
static void *libc_memory(size_t alignment, size_t size)
{
    return PROFILE(
        PROFILE_ALLOCATION,
        touched(alignment == 0 ? __libc_malloc(size) : __libc_memalign(alignment, size), size));
}

static void *new_memory(size_t size, const void *caller)
{
    return guarded_memory_is_guarding() ? guarded_memory_new(size, 0, caller)
                                        : libc_memory(0, size);
}

static void free_memory(void *memory, const void *caller)
{
    if (memory != NULL && !guarded_memory_free(memory, caller)) {
        PROFILE(PROFILE_ALLOCATION, __libc_free(memory));
    }
}

static void *resize(void *memory, size_t size, const void *caller)
{
    if (memory == NULL) {
        return new_memory(size, caller);
    }
    void *moved = guarded_memory_resize(memory, size, caller);
    return moved == NULL && errno == 0 ? PROFILE(PROFILE_ALLOCATION, __libc_realloc(memory, size))
                                       : moved;
}

void *guarded_malloc(size_t size)
{
    return new_memory(size, CALLER);
}

void *guarded_calloc(size_t count, size_t size)
{
    if (!guarded_memory_is_guarding()) {
        return PROFILE(PROFILE_ALLOCATION, touched(__libc_calloc(count, size), count * size));
    }
    if (size != 0 && count > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = guarded_memory_new(count * size, 0, CALLER);
    if (memory != NULL) {
        guarded_memory_set(memory, 0, count * size);
    }
    return memory;
}

void guarded_free(void *memory)
{
    free_memory(memory, CALLER);
}

void *guarded_realloc(void *memory, size_t size)
{
    return resize(memory, size, CALLER);
}

static void *aligned(size_t alignment, size_t size, const void *caller)
{
    void *memory =
        guarded_memory_is_guarding() ? guarded_memory_new(size, alignment, caller) : NULL;
    return memory != NULL ? memory : libc_memory(alignment, size);
}

void *guarded_aligned_alloc(size_t alignment, size_t size)
{
    return aligned(alignment, size, CALLER);
}

int guarded_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    *memory = aligned(alignment, size, CALLER);
    return *memory != NULL ? 0 : ENOMEM;
}

/* ---- Functions that call malloc ---- */

static char *copy_text(const char *text, size_t length, const void *caller)
{
    char *copy = new_memory(length + 1, caller);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *guarded_strdup(const char *text)
{
    return copy_text(text, strlen(text), CALLER);
}

char *guarded_strndup(const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);
    return copy_text(text, end != NULL ? (size_t)(end - text) : size, CALLER);
}

static ssize_t read_line(char **line, size_t *size, int delimiter, FILE *stream, const void *caller)
{
    enum {
        FIRST_SIZE = 120
    };
    size_t length = 0;
    int byte = EOF;

    while ((length == 0 || byte != delimiter) && (byte = getc(stream)) != EOF) {
        if (*line == NULL || length + 2 > *size) {
            const size_t larger = length + 2 > FIRST_SIZE ? 2 * length + 2 : FIRST_SIZE;
            char *moved = resize(*line, larger, caller);
            if (moved == NULL) {
                return -1;
            }
            *line = moved;
            *size = larger;
        }
        (*line)[length++] = (char)byte;
        (*line)[length] = '\0';
    }
    return length > 0 ? (ssize_t)length : -1;
}

ssize_t guarded_getdelim(char **line, size_t *size, int delimiter, FILE *stream)
{
    return read_line(line, size, delimiter, stream, CALLER);
}

ssize_t guarded_getline(char **line, size_t *size, FILE *stream)
{
    return read_line(line, size, '\n', stream, CALLER);
}

static int print_text(char **text, const char *format, va_list arguments, const void *caller)
{
    va_list again;

    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *text = length >= 0 ? new_memory((size_t)length + 1, caller) : NULL;
    return *text != NULL ? vsnprintf(*text, (size_t)length + 1, format, arguments) : -1;
}

int guarded_vasprintf(char **text, const char *format, va_list arguments)
{
    return print_text(text, format, arguments, CALLER);
}

int guarded_asprintf(char **text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = print_text(text, format, arguments, CALLER);
    va_end(arguments);
    return length;
}

#ifndef HARNESS_STATIC
#define EXPORTED_ALIAS_OF(function) __attribute__((visibility("default"), alias(#function)))
EXPORTED_ALIAS_OF(guarded_malloc) void *malloc(size_t size);
EXPORTED_ALIAS_OF(guarded_calloc) void *calloc(size_t count, size_t size);
EXPORTED_ALIAS_OF(guarded_free) void free(void *memory);
EXPORTED_ALIAS_OF(guarded_realloc) void *realloc(void *memory, size_t size);
EXPORTED_ALIAS_OF(guarded_aligned_alloc) void *aligned_alloc(size_t alignment, size_t size);
EXPORTED_ALIAS_OF(guarded_aligned_alloc) void *memalign(size_t alignment, size_t size);
EXPORTED_ALIAS_OF(guarded_posix_memalign)
int posix_memalign(void **memory, size_t alignment, size_t size);
EXPORTED_ALIAS_OF(guarded_strdup) char *strdup(const char *text);
EXPORTED_ALIAS_OF(guarded_strndup) char *strndup(const char *text, size_t size);
EXPORTED_ALIAS_OF(guarded_getline) ssize_t getline(char **line, size_t *size, FILE *stream);
EXPORTED_ALIAS_OF(guarded_getdelim)
ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *stream);
/* glibc's headers make a getline of it. */
EXPORTED_ALIAS_OF(guarded_getdelim)
ssize_t __getdelim(char **line, size_t *size, int delimiter, FILE *stream);
EXPORTED_ALIAS_OF(guarded_vasprintf)
int vasprintf(char **text, const char *format, va_list arguments);
EXPORTED_ALIAS_OF(guarded_asprintf) int asprintf(char **text, const char *format, ...);
#endif
