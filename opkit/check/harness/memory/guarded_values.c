/* The values of an invocation, each in a block of guarded memory. */
#include <stdio.h>
#include <string.h>

#include "guarded_memory.h"
#include "libc_memory.h"

static void describe_value(const void *owner, char *text, size_t size)
{
    static const char *const ROLES[] = {
        [HARNESS_INPUT] = "input",
        [HARNESS_OUTPUT] = "output",
        [HARNESS_PARAM] = "param",
    };
    const struct harness_value *value = owner;
    snprintf(text, size, "%s '%s'", ROLES[value->role], value->name);
}

struct harness_value *guarded_values_new(const struct harness_invocation *invocation)
{
    if (!invocation->guarded) {
        return invocation->values;
    }
    struct harness_value *values = __libc_calloc(invocation->count, sizeof *values);
    for (unsigned i = 0; values != NULL && i < invocation->count; i++) {
        const struct harness_value *value = &invocation->values[i];
        void *bytes = guarded_block_new(describe_value, value, value->size);
        if (bytes == NULL) {
            return NULL; /* the process is about to end */
        }
        values[i] = *value;
        values[i].bytes = memcpy(bytes, value->bytes, value->size);
        if (value->role != HARNESS_OUTPUT) {
            guarded_block_protect(bytes);
        }
    }
    return values;
}

/* Records a change of an input; a fault precedes it unless a sanitizer guards the block. */
static void check_input(const struct harness_value *value, const void *bytes)
{
    char name[HARNESS_MAX_NAME + 16];
    char text[HARNESS_MAX_NAME + 48];

    if (memcmp(bytes, value->bytes, value->size) != 0) {
        describe_value(value, name, sizeof name);
        snprintf(text, sizeof text, "the operator changes %s", name);
        guarded_memory_record("event", NULL, text);
    }
}

void guarded_values_delete(const struct harness_invocation *invocation,
                           struct harness_value *values)
{
    if (!invocation->guarded) {
        return;
    }
    for (unsigned i = 0; i < invocation->count; i++) {
        const struct harness_value *value = &invocation->values[i];
        if (value->role == HARNESS_OUTPUT) {
            memcpy(value->bytes, values[i].bytes, value->size);
        } else {
            check_input(value, values[i].bytes);
        }
        guarded_block_delete(values[i].bytes);
    }
    __libc_free(values);
}
