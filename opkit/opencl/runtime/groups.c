/* Runs a kernel for every work item: group by group, and in a group one item after the other. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "runtime.h"

static const struct __opkit_launch *launch;
static void (*kernel)(void **);
static void **arguments;

struct __opkit_progress __opkit_progress;

/* Where an abandoned work item goes, if its group has no barriers. */
static jmp_buf next_item;
static char *next_item_frame;

/* ---- Groups with barriers: each work item has a stack of its own ---- */

enum {
    STACK_SIZE = 256 * 1024,
    MAX_STACK_SIZE = 8 << 20, /* without barriers */
    PAGE = 4096,
    LOCAL_FENCE = 1, /* as in prelude/work_items.h */
    GLOBAL_FENCE = 2
};
enum state {
    READY,
    WAITING,
    FINISHED,
    ABANDONED
};

struct fiber {
    ucontext_t context;
    unsigned long local_id[3];
    enum state state;
    unsigned place; /* of the barrier that it waits at */
    const void *caller;
};

static ucontext_t scheduler;
static struct fiber *running;
static struct fiber *first_waiting; /* of the group, since all of it ran */

/* Lets a work item wait for its group. */
void __opkit_barrier(unsigned place)
{
    const void *caller = __builtin_return_address(0);

    if (running == NULL) {
        __opkit_event("barrier that was not seen in the source", NULL, 0, 0, 0, 1, caller);
        return;
    }
    running->state = WAITING;
    running->place = place;
    running->caller = caller;
    if (first_waiting == NULL) {
        first_waiting = running;
    } else if (first_waiting->place != place) {
        __opkit_event("barrier while others of the group wait at another one", NULL, 0, 0, 0, 1,
                      caller);
    }
    swapcontext(&running->context, &scheduler);
}

static void fiber_main(void)
{
    kernel(arguments);
    running->state = FINISHED;
    swapcontext(&running->context, &scheduler);
}

static void set_ids(const unsigned long *local_id)
{
    for (int i = 0; i < 3; i++) {
        unsigned long index = __opkit_item.group_id[i] * launch->local_size[i] + local_id[i];
        __opkit_item.local_id[i] = local_id[i];
        __opkit_item.global_id[i] = launch->global_offset[i] + index * launch->global_scale[i];
    }
}

static void local_id_of(unsigned long index, unsigned long *local_id)
{
    local_id[0] = index % launch->local_size[0];
    local_id[1] = index / launch->local_size[0] % launch->local_size[1];
    local_id[2] = index / launch->local_size[0] / launch->local_size[1];
}

/* Returns as many fibers, which stay for the next launches. */
static struct fiber *provide_fibers(unsigned long count)
{
    static struct fiber *fibers;
    static unsigned long provided;
    char *stacks;

    if (count <= provided) {
        return fibers;
    }
    provided = count;
    fibers = calloc(count, sizeof *fibers);
    stacks = mmap(NULL, count * STACK_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fibers == NULL || stacks == MAP_FAILED) {
        __opkit_die("no memory for %lu work items that wait for each other", count);
    }
    __opkit_allow(NULL, stacks, count * STACK_SIZE);
    for (unsigned long i = 0; i < count; i++) {
        /* A guard page below each stack. */
        mprotect(stacks + i * STACK_SIZE, PAGE, PROT_NONE);
        getcontext(&fibers[i].context);
        fibers[i].context.uc_stack.ss_sp = stacks + i * STACK_SIZE;
        fibers[i].context.uc_stack.ss_size = STACK_SIZE;
    }
    return fibers;
}

static void run_interleaved(struct fiber *fibers, unsigned long count)
{
    unsigned long ended = 0, finished = 0;

    for (unsigned long i = 0; i < count; i++) {
        fibers[i].state = READY;
        local_id_of(i, fibers[i].local_id);
        makecontext(&fibers[i].context, fiber_main, 0);
    }
    __opkit_progress.local_phase = __opkit_progress.global_phase = 0;
    while (ended < count) {
        unsigned long waiting = 0;
        first_waiting = NULL;
        for (unsigned long k = 0; k < count; k++) {
            unsigned long index = launch->reverse ? count - 1 - k : k;
            running = &fibers[index];
            if (running->state == FINISHED || running->state == ABANDONED) {
                continue;
            }
            set_ids(running->local_id);
            __opkit_progress.item = (uint32_t)(__opkit_progress.group * count + index);
            swapcontext(&scheduler, &running->context);
            finished += running->state == FINISHED;
            *(running->state == WAITING ? &waiting : &ended) += 1;
        }
        if (waiting > 0 && finished > 0) {
            set_ids(first_waiting->local_id);
            __opkit_event("barrier that only some work items of a group reach", NULL, 0, 0, 0,
                          waiting, first_waiting->caller);
        }
        __opkit_progress.local_phase += __opkit_item.fences & LOCAL_FENCE;
        __opkit_progress.global_phase += (__opkit_item.fences & GLOBAL_FENCE) / GLOBAL_FENCE;
    }
    running = NULL;
}

/* ---- Groups without barriers ---- */

static void run_sequentially(unsigned long count)
{
    volatile unsigned long k = 0; /* it survives longjmp */

    __opkit_progress.local_phase = __opkit_progress.global_phase = 0;
    next_item_frame = __builtin_frame_address(0);
    if (setjmp(next_item) != 0) {
        k++;
    }
    for (; k < count; k++) {
        unsigned long local_id[3];
        unsigned long index = launch->reverse ? count - 1 - k : k;
        local_id_of(index, local_id);
        set_ids(local_id);
        __opkit_progress.item = (uint32_t)(__opkit_progress.group * count + index);
        kernel(arguments);
    }
}

void __opkit_abandon(void)
{
    char *frame = __builtin_frame_address(0);

    /* Its private variables have guards, where others will have their variables. */
    if (running != NULL) {
        char *stack = running->context.uc_stack.ss_sp;
        __opkit_allow_again(stack + PAGE, STACK_SIZE - PAGE);
        running->state = ABANDONED;
        setcontext(&scheduler);
    }
    __opkit_allow_again(frame, (size_t)(next_item_frame - frame));
    longjmp(next_item, 1);
}

/* Groups of one item: no division for each of millions. */
static void run_groups_of_one(void)
{
    unsigned long count[3];

    memcpy(count, __opkit_item.global_size, sizeof count);
    for (unsigned long k = 0; k < count[2]; k++) {
        __opkit_item.group_id[2] = launch->reverse ? count[2] - 1 - k : k;
        __opkit_item.global_id[2] =
            launch->global_offset[2] + __opkit_item.group_id[2] * launch->global_scale[2];
        for (unsigned long j = 0; j < count[1]; j++) {
            __opkit_item.group_id[1] = launch->reverse ? count[1] - 1 - j : j;
            __opkit_item.global_id[1] =
                launch->global_offset[1] + __opkit_item.group_id[1] * launch->global_scale[1];
            for (unsigned long i = 0; i < count[0]; i++) {
                __opkit_item.group_id[0] = launch->reverse ? count[0] - 1 - i : i;
                __opkit_item.global_id[0] =
                    launch->global_offset[0] + __opkit_item.group_id[0] * launch->global_scale[0];
                kernel(arguments);
            }
        }
    }
}

/* Lets the kernel use the stack below this function's. */
static void allow_stack(void)
{
    char *end = __builtin_frame_address(0);
    struct rlimit limit;
    size_t size = MAX_STACK_SIZE;

    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size) {
        size = limit.rlim_cur;
    }
    if (!__opkit_is_known((uintptr_t)end - size, size)) {
        __opkit_allow(NULL, end - size, size);
    }
}

void __opkit_run(const struct __opkit_launch *run_launch, void (*run_kernel)(void **),
                 void **run_arguments)
{
    unsigned long groups[3], total = 1, items = 1;
    struct fiber *fibers = NULL;

    launch = run_launch;
    kernel = run_kernel;
    arguments = run_arguments;
    __opkit_item.dimensions = launch->dimensions;
    for (int i = 0; i < 3; i++) {
        __opkit_item.global_size[i] = launch->global_size[i];
        __opkit_item.global_offset[i] = launch->global_offset[i];
        __opkit_item.local_size[i] = launch->local_size[i];
        groups[i] = launch->global_size[i] / launch->local_size[i];
        total *= groups[i];
        items *= launch->local_size[i];
    }
    allow_stack();
    if (items == 1 && !launch->has_barrier && __opkit_local_size == 0 &&
        launch->begin_group == NULL) {
        run_groups_of_one();
        return;
    }
    if (launch->has_barrier) {
        fibers = provide_fibers(items);
    }
    for (unsigned long k = 0; k < total; k++) {
        unsigned long group = launch->reverse ? total - 1 - k : k;
        __opkit_item.group_id[0] = group % groups[0];
        __opkit_item.group_id[1] = group / groups[0] % groups[1];
        __opkit_item.group_id[2] = group / groups[0] / groups[1];
        __opkit_progress.group = (uint32_t)group;
        if (__opkit_local_size > 0) {
            memset(__opkit_local_start, launch->local_fill, __opkit_local_size);
        }
        if (launch->begin_group != NULL) {
            launch->begin_group();
        }
        if (launch->has_barrier) {
            run_interleaved(fibers, items);
        } else {
            run_sequentially(items);
        }
    }
}
