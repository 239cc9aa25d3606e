/*
 * Events of a kernel, for the harness: lines with fields separated by tabs, of which the first is
 * the kind. They name the running work item.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime.h"

struct __opkit_work_item __opkit_item;

static harness_record_f *record;
static uintptr_t library_start, library_end;

static void emit_as(const char *what, const char *format, va_list values)
{
    char text[8192];
    vsnprintf(text, sizeof text, format, values);
    record(what, text, strlen(text));
}

void __opkit_emit(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    emit_as("log", format, values);
    va_end(values);
}

void __opkit_die(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    emit_as("refused", format, values);
    va_end(values);
    _exit(EXIT_FAILURE);
}

void __opkit_open_log(harness_record_f *record_function, const char *base, size_t size)
{
    record = record_function;
    library_start = (uintptr_t)base;
    library_end = library_start + size;
}

/* ---- Events ---- */

struct event {
    const char *kind;
    const char *tensor; /* NULL: of none */
    unsigned long count;
    int dimensions; /* of the place */
    long at[3];
    unsigned long item[3];
    uintptr_t address;
};

enum {
    MAX_EVENTS = 256
};
static struct event events[MAX_EVENTS];
static int event_count;

/* Addresses as the library's debug information has them; 0: none of the library's. */
static unsigned long offset_of(uintptr_t address)
{
    return address >= library_start && address < library_end ? address - library_start : 0;
}

bool __opkit_in_library(const void *memory)
{
    return offset_of((uintptr_t)memory) != 0;
}

/* Counts an event; where the first of its kind happened is kept. */
static void count_event(const char *kind, const char *tensor, int dimensions, const long *at,
                        unsigned long count, const void *address)
{
    struct event *event = events;

    while (event < events + event_count && (event->kind != kind || event->tensor != tensor)) {
        event++;
    }
    if (event == events + MAX_EVENTS) {
        return;
    }
    if (event == events + event_count) {
        event_count++;
        event->kind = kind;
        event->tensor = tensor;
        event->count = 0;
        event->dimensions = dimensions;
        memcpy(event->at, at, sizeof event->at);
        memcpy(event->item, __opkit_item.global_id, sizeof event->item);
        event->address = (uintptr_t)address;
    }
    event->count += count;
}

void __opkit_event(const char *kind, const char *tensor, int x, int y, int z, unsigned long count,
                   const void *address)
{
    count_event(kind, tensor, 3, (const long[3]){x, y, z}, count, address);
}

void __opkit_buffer_event(const char *kind, const char *buffer, long element, const void *address)
{
    count_event(kind, buffer, 1, (const long[3]){element}, 1, address);
}

void __opkit_report_events(void)
{
    for (const struct event *event = events; event < events + event_count; event++) {
        char at[96];
        int length = snprintf(at, sizeof at, "%ld", event->at[0]);

        for (int i = 1; i < event->dimensions; i++) {
            length += snprintf(at + length, sizeof at - (size_t)length, ",%ld", event->at[i]);
        }
        __opkit_emit("event\t%s\t%s\t%lu\t%s\t%lu,%lu,%lu\t%lu", event->kind,
                     event->tensor != NULL ? event->tensor : "", event->count, at, event->item[0],
                     event->item[1], event->item[2], offset_of(event->address));
    }
    event_count = 0;
}

/* ---- Undefined behavior ---- */

/* Every record of the compiler begins with its place in the source. */
struct place {
    const char *file;
    uint32_t line;
    uint32_t column; /* with all bits set once it was reported */
};

static void report_undefined(struct place *place, const char *what)
{
    uint32_t column = __atomic_exchange_n(&place->column, UINT32_MAX, __ATOMIC_RELAXED);
    if (column != UINT32_MAX) {
        __opkit_emit("undefined\t%s\t%u\t%u\t%s\t%lu,%lu,%lu", place->file, place->line, column,
                     what, __opkit_item.global_id[0], __opkit_item.global_id[1],
                     __opkit_item.global_id[2]);
    }
}

void __opkit_report_overrun(const char *access, size_t size, const char *what, const void *caller)
{
    static const void *reported[64];
    size_t k = 0;

    while (k < sizeof reported / sizeof *reported && reported[k] != NULL && reported[k] != caller) {
        k++;
    }
    if (k < sizeof reported / sizeof *reported && reported[k] == NULL) {
        reported[k] = caller;
        __opkit_emit("overrun\t%s of %zu bytes %s\t%lu,%lu,%lu\t%lu", access, size, what,
                     __opkit_item.global_id[0], __opkit_item.global_id[1],
                     __opkit_item.global_id[2], offset_of((uintptr_t)caller));
    }
}

#define HANDLER(name, what)                          \
    void __ubsan_handle_##name(struct place *place); \
    void __ubsan_handle_##name(struct place *place)  \
    {                                                \
        report_undefined(place, what);               \
    }
HANDLER(add_overflow, "signed integer overflow in an addition")
HANDLER(sub_overflow, "signed integer overflow in a subtraction")
HANDLER(mul_overflow, "signed integer overflow in a multiplication")
HANDLER(negate_overflow, "signed integer overflow in a negation")
HANDLER(divrem_overflow, "division by zero, or its result does not fit")
HANDLER(shift_out_of_bounds, "shift by as many bits as the type has, or more")
HANDLER(out_of_bounds, "index outside of the array")
HANDLER(type_mismatch_v1, "access through a null or misaligned pointer")
HANDLER(pointer_overflow, "pointer arithmetic overflows")
HANDLER(float_cast_overflow, "floating-point number outside of the integer type's range")
HANDLER(vla_bound_not_positive, "array of a length that is not positive")
HANDLER(load_invalid_value, "a bool that is neither 0 nor 1")
HANDLER(nonnull_arg, "null pointer where none is allowed")
HANDLER(builtin_unreachable, "end of the function reached")
HANDLER(missing_return, "end of the function reached without a result")
HANDLER(invalid_builtin, "zero where none is allowed")
HANDLER(alignment_assumption, "misaligned pointer")
