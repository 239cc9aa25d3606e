/* A run of an operator: its attachments, its records, the count of its objects. */
#include <stdarg.h>

#include "session.h"

const char *const object_names[OBJECT_KINDS] = {
    [CONTEXT] = "context",        [QUEUE] = "command queue", [PROGRAM] = "program",
    [KERNEL] = "kernel",          [BUFFER] = "buffer",       [SUB_BUFFER] = "sub-buffer",
    [IMPORT] = "imported buffer",
};

struct session session;

static long alive[OBJECT_KINDS];
static unsigned runs; /* that have begun and not ended: two nodes may be alive at a time */

enum {
    MAX_FAILURES = 8
};

static struct {
    char function[64];
    unsigned long call; /* 1: the first one */
    long status;
    unsigned long calls;
} failures[MAX_FAILURES];
static unsigned failure_count;

enum {
    MAX_ATTACHMENTS = 16
};

/* Copies: two nodes may be alive at a time, and the harness frees the data of each at its end. */
static struct {
    char name[2 * HARNESS_MAX_NAME];
    char *text;
} attachments[MAX_ATTACHMENTS];
static unsigned attachment_count;

static void copy_attachments(const struct harness_invocation *invocation)
{
    static const char PREFIX[] = "opencl:";

    while (attachment_count > 0) {
        free(attachments[--attachment_count].text);
    }
    for (unsigned i = 0; i < invocation->attachment_count; i++) {
        const struct harness_attachment *from = &invocation->attachments[i];
        if (strncmp(from->name, PREFIX, strlen(PREFIX)) == 0 &&
            attachment_count < MAX_ATTACHMENTS) {
            snprintf(attachments[attachment_count].name, sizeof from->name, "%s", from->name);
            attachments[attachment_count++].text = strndup(from->bytes, from->size);
        }
    }
}

static void copy_values(const struct harness_invocation *invocation)
{
    session.value_count = invocation->count < MAX_VALUES ? invocation->count : MAX_VALUES;
    for (unsigned i = 0; i < session.value_count; i++) {
        session.values[i] = invocation->values[i];
    }
}

const char *attachment(const char *name)
{
    for (unsigned i = 0; i < attachment_count; i++) {
        if (strcmp(attachments[i].name, name) == 0) {
            return attachments[i].text;
        }
    }
    return NULL;
}

void log_line(const char *format, ...)
{
    char text[1024];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (session.record != NULL) {
        session.record("log", text, strlen(text));
    }
}

static void read_failures(const char *text)
{
    failure_count = 0;
    while (text != NULL && failure_count < MAX_FAILURES &&
           sscanf(text, "%63s %lu %ld", failures[failure_count].function,
                  &failures[failure_count].call, &failures[failure_count].status) == 3) {
        failures[failure_count++].calls = 0;
        text = strchr(text, '\n');
        text = text == NULL ? NULL : text + 1;
    }
}

int32_t injected_failure(const char *function)
{
    for (unsigned i = 0; i < failure_count; i++) {
        if (strcmp(failures[i].function, function) == 0 &&
            ++failures[i].calls == failures[i].call) {
            return (int32_t)failures[i].status;
        }
    }
    return CL_SUCCESS;
}

static void read_platform(const char *text)
{
    const char *line = text == NULL ? NULL : strchr(text, '\n');

    snprintf(session.platform, sizeof session.platform, "%.*s",
             line == NULL ? (int)sizeof session.platform : (int)(line - text),
             text == NULL ? "ARM Platform" : text);
    snprintf(session.extensions, sizeof session.extensions, "%s",
             line == NULL ? "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
                            "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
                            "cl_khr_byte_addressable_store cl_khr_fp16 cl_arm_import_memory "
                            "cl_arm_import_memory_dma_buf"
                          : line + 1);
}

void count_object(enum object_kind kind, int change)
{
    alive[kind] += change;
}

void *failed(int32_t *status, int32_t value)
{
    if (status != NULL) {
        *status = value;
    }
    return NULL;
}

void succeeded(int32_t *status)
{
    if (status != NULL) {
        *status = CL_SUCCESS;
    }
}

int32_t answer(const void *value, size_t size, size_t capacity, void *to, size_t *size_to)
{
    if (to != NULL && capacity < size) {
        return CL_INVALID_VALUE;
    }
    if (to != NULL) {
        memcpy(to, value, size);
    }
    if (size_to != NULL) {
        *size_to = size;
    }
    return CL_SUCCESS;
}

void begin_session(const struct harness_invocation *invocation, harness_record_f *record)
{
    session.record = record;
    copy_attachments(invocation);
    copy_values(invocation);
    if (runs++ == 0) {
        memset(alive, 0, sizeof alive);
    }
    read_failures(attachment("opencl:fail"));
    read_platform(attachment("opencl:platform"));
}

void end_session(bool counts)
{
    runs--;
    for (int kind = 0; counts && runs == 0 && kind < OBJECT_KINDS; kind++) {
        if (alive[kind] > 0) {
            log_line("alive\t%s\t%ld", object_names[kind], alive[kind]);
        }
    }
    if (runs == 0) {
        session.record = NULL;
    }
}
