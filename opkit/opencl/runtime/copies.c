/*
 * Copies between local and global memory by a whole group of work items: every one of them calls
 * for the same copy.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* A pending copy, in the list of its event. */
struct __opkit_copy {
    struct __opkit_copy *next;
    char *to;
    const char *from;
    size_t count, size; /* elements, and bytes of one */
    size_t to_step, from_step; /* bytes */
    const void *caller;
};

static unsigned long pending;

struct __opkit_copy *__opkit_enqueue_copy(void *to, const void *from, size_t count, size_t size,
                                          size_t step, struct __opkit_copy *event)
{
    struct __opkit_copy *copy = malloc(sizeof *copy);

    if (copy == NULL) {
        __opkit_die("no memory for a copy of a group");
    }
    *copy = (struct __opkit_copy){
        .next = event,
        .to = to,
        .from = from,
        .count = count,
        .size = size,
        .to_step = __opkit_is_local(to) ? size : step * size,
        .from_step = __opkit_is_local(to) ? step * size : size,
        .caller = __builtin_return_address(0),
    };
    pending++;
    return copy;
}

void __opkit_make_copies(int count, struct __opkit_copy **events)
{
    for (int i = 0; i < count; i++) {
        while (events[i] != NULL) {
            struct __opkit_copy *copy = events[i];
            for (size_t k = 0; k < copy->count; k++) {
                char *to = copy->to + k * copy->to_step;
                const char *from = copy->from + k * copy->from_step;
                __opkit_item.is_joint = true;
                __opkit_check_access("read", from, copy->size, copy->caller);
                __opkit_check_access("write", to, copy->size, copy->caller);
                __opkit_item.is_joint = false;
                memcpy(to, from, copy->size);
            }
            events[i] = copy->next;
            free(copy);
            pending--;
        }
    }
}

void __opkit_report_copies(void)
{
    if (pending > 0) {
        __opkit_event("copy of a group without a wait", NULL, 0, 0, 0, pending, NULL);
        pending = 0;
    }
}
