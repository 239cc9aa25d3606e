/* The logs: of vxAddLogEntry, of events, of leaks and of the reasons of failed calls. */
#include <stdarg.h>
#include <stdio.h>

#include "opkit/check/harness/memory/libc_memory.h"

#include "hostrt.h"

const char *hostrt_phase = "the operator";
const char *hostrt_function;

struct entry {
    vx_status status;
    char text[VX_MAX_LOG_MESSAGE_LEN];
};

static struct {
    struct entry *entries;
    size_t count;
} logs[HOSTRT_REASON + 1];

void hostrt_log_append(enum hostrt_log log, vx_status status, const char *text)
{
    size_t count = logs[log].count;
    if (count == VX_MAX_LOG_NUM_ENTRIES) {
        return;
    }
    struct entry *entries = __libc_realloc(logs[log].entries, (count + 1) * sizeof *entries);
    if (entries == NULL) {
        return;
    }
    entries[count].status = status;
    snprintf(entries[count].text, sizeof entries[count].text, "%s", text);
    logs[log].entries = entries;
    logs[log].count = count + 1;
}

void hostrt_log_printf(enum hostrt_log log, const char *format, ...)
{
    char text[VX_MAX_LOG_MESSAGE_LEN];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hostrt_log_append(log, VX_SUCCESS, text);
}

void hostrt_log_crash(const char *function, const char *reason)
{
    hostrt_log_printf(HOSTRT_EVENT, "%s crashes the board's driver: %s", function, reason);
}

vx_status hostrt_refuse(vx_status status, const char *function, const char *format, ...)
{
    char text[VX_MAX_LOG_MESSAGE_LEN];
    const int written = snprintf(text, sizeof text, "%s: ", function);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + written, sizeof text - (size_t)written, format, arguments);
    va_end(arguments);
    hostrt_log_append(HOSTRT_REASON, status, text);
    return status;
}

void vxAddLogEntry(vx_reference reference, vx_status status, const char *message, ...)
{
    char text[VX_MAX_LOG_MESSAGE_LEN];
    va_list arguments;

    (void)reference;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    hostrt_log_append(HOSTRT_LOG, status, text);
}

const char *hostrt_log_entry(enum hostrt_log log, vx_size index, vx_status *status)
{
    if (index >= logs[log].count) {
        return NULL;
    }
    *status = logs[log].entries[index].status;
    return logs[log].entries[index].text;
}

void hostrt_log_clear(void)
{
    for (size_t i = 0; i < dimof(logs); i++) {
        __libc_free(logs[i].entries);
        logs[i].entries = NULL;
        logs[i].count = 0;
    }
}
