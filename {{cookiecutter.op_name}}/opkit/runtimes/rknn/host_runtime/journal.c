/* Three lists of texts: the log of vxAddLogEntry, events and leaks. */
#include <stdarg.h>
#include <stdio.h>

#include "hostrt.h"
#include "libc.h"

struct entry {
    vx_status status;
    char text[VX_MAX_LOG_MESSAGE_LEN];
};

static struct {
    struct entry *entries;
    size_t count;
} journals[HOSTRT_LEAK + 1];

void hostrt_add(enum hostrt_journal journal, vx_status status, const char *text)
{
    size_t count = journals[journal].count;
    if (count == VX_MAX_LOG_NUM_ENTRIES) {
        return;
    }
    struct entry *entries =
        __libc_realloc(journals[journal].entries, (count + 1) * sizeof *entries);
    if (entries == NULL) {
        return;
    }
    entries[count].status = status;
    snprintf(entries[count].text, sizeof entries[count].text, "%s", text);
    journals[journal].entries = entries;
    journals[journal].count = count + 1;
}

void hostrt_write(enum hostrt_journal journal, vx_status status, const char *format, ...)
{
    char text[VX_MAX_LOG_MESSAGE_LEN];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hostrt_add(journal, status, text);
}

void vxAddLogEntry(vx_reference reference, vx_status status, const char *message, ...)
{
    char text[VX_MAX_LOG_MESSAGE_LEN];
    va_list arguments;

    (void)reference;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    hostrt_add(HOSTRT_LOG, status, text);
}

const char *hostrt_entry(enum hostrt_journal journal, vx_size index, vx_status *status)
{
    if (index >= journals[journal].count) {
        return NULL;
    }
    *status = journals[journal].entries[index].status;
    return journals[journal].entries[index].text;
}

void hostrt_forget(void)
{
    for (size_t i = 0; i < dimof(journals); i++) {
        __libc_free(journals[i].entries);
        journals[i].entries = NULL;
        journals[i].count = 0;
    }
}
