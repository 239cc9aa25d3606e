/*
 * Command queues. Commands run when the queue is finished, so that a program which does not wait
 * for them sees no results.
 */
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "emulator.h"

enum {
    MAX_COMMANDS = 256,
    DIMENSIONS = 3,
    STACK_SIZE = 8 << 20,
    PAGE = 4096,
    USUAL_LOCAL_SIZE = 64 /* that a driver takes, or the largest below it that divides the size */
};

struct command {
    struct object *queue;
    struct kernel kernel; /* with the arguments as they were when it was queued; of a read, empty */
    struct __opkit_launch launch;
    struct object *used; /* the kernel, or the buffer of a read */
    size_t offset, size; /* of a read */
    void *to;
};

static struct command *commands[MAX_COMMANDS];
static int command_count;

/* ---- Execution ---- */

static void describe(const unsigned long *size, unsigned dimensions, char *text, size_t capacity)
{
    int length = snprintf(text, capacity, "%lu", size[0]);

    for (unsigned i = 1; i < dimensions; i++) {
        length += snprintf(text + length, capacity - (size_t)length, ",%lu", size[i]);
    }
}

static struct {
    ucontext_t context, caller;
    const struct command *command;
    void *arguments[MAX_ARGUMENTS];
} run;

static void run_on_stack(void)
{
    __opkit_run(&run.command->launch, run.command->kernel.entry, run.arguments);
}

/* The stack of the operator may be as small as on a board; that is not what a GPU has. */
static void switch_stack(void)
{
    static char *stack;

    if (stack == NULL) {
        stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE) != 0) {
            __opkit_die("no memory for the stack of a kernel");
        }
    }
    getcontext(&run.context);
    run.context.uc_stack.ss_sp = stack;
    run.context.uc_stack.ss_size = STACK_SIZE;
    run.context.uc_link = &run.caller;
    makecontext(&run.context, run_on_stack, 0);
    swapcontext(&run.caller, &run.context);
}

static void run_kernel(const struct command *command)
{
    const struct __opkit_launch *launch = &command->launch;
    const unsigned long *local = launch->local_size;
    char global_text[80], local_text[80];

    describe(launch->global_size, launch->dimensions, global_text, sizeof global_text);
    describe(local, launch->dimensions, local_text, sizeof local_text);
    log_line("launch\t%s\t%s\t%s", command->kernel.name, global_text, local_text);
    map_memory(&command->kernel, local[0] * local[1] * local[2], run.arguments);
    run.command = command;
    switch_stack();
    run.command = NULL;
    __opkit_report_copies();
    unmap_memory();
}

static void release_command(struct command *command)
{
    for (unsigned i = 0; i < command->kernel.count; i++) {
        if (command->kernel.arguments[i].buffer != NULL) {
            release_use(command->kernel.arguments[i].buffer);
        }
    }
    release_use(command->used);
    release_use(command->queue);
    free(command);
}

static void run_command(struct command *command)
{
    if (command->kernel.entry != NULL) {
        run_kernel(command);
    } else {
        const struct buffer *buffer = &command->used->buffer;
        memcpy(command->to, buffer->memory + buffer->origin + command->offset, command->size);
    }
    release_command(command);
}

/* Runs the commands of a queue. */
static void run_queue(const struct object *queue)
{
    int kept = 0;

    for (int i = 0; i < command_count; i++) {
        if (commands[i]->queue == queue) {
            run_command(commands[i]);
        } else {
            commands[kept++] = commands[i];
        }
    }
    command_count = kept;
}

static struct command *new_command(struct object *queue, struct object *used)
{
    struct command *command;

    if (command_count == MAX_COMMANDS) {
        return NULL;
    }
    command = calloc(1, sizeof *command);
    if (command != NULL) {
        command->queue = queue;
        command->used = used;
        retain_use(queue);
        retain_use(used);
        commands[command_count++] = command;
    }
    return command;
}

/* ---- Queues ---- */

opkit_cl_queue clCreateCommandQueue(opkit_cl_context context, opkit_cl_device device,
                                    uint64_t properties, int32_t *status)
{
    enum {
        KNOWN = 3 /* out of order, profiling: they change no result */
    };
    int32_t failure = injected_failure("clCreateCommandQueue");
    struct object *owner = find_object(context, CONTEXT), *queue;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    if (owner == NULL) {
        return failed(status, CL_INVALID_CONTEXT);
    }
    if (device != the_device()) {
        return failed(status, CL_INVALID_DEVICE);
    }
    if ((properties & ~(uint64_t)KNOWN) != 0) {
        return failed(status, CL_INVALID_VALUE);
    }
    queue = new_object(QUEUE, owner);
    if (queue == NULL) {
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    succeeded(status);
    return handle_of(queue);
}

static bool has_commands(const struct object *queue)
{
    for (int i = 0; i < command_count; i++) {
        if (commands[i]->queue == queue) {
            return true;
        }
    }
    return false;
}

int32_t clReleaseCommandQueue(opkit_cl_queue handle)
{
    struct object *queue = find_object(handle, QUEUE);

    if (queue != NULL && queue->references == 1 && has_commands(queue)) {
        log_line("misuse\ta command queue is released before clFinish has waited for its commands");
        run_queue(queue);
    }
    return release_object(queue, CL_INVALID_COMMAND_QUEUE);
}

int32_t clFinish(opkit_cl_queue handle)
{
    struct object *queue = find_object(handle, QUEUE);
    int32_t status = injected_failure("clFinish");

    if (queue == NULL) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    run_queue(queue);
    return status;
}

int32_t clEnqueueReadBuffer(opkit_cl_queue queue_handle, opkit_cl_buffer handle, uint32_t blocking,
                            size_t offset, size_t size, void *to, uint32_t count,
                            const void *events, void *event)
{
    int32_t status = injected_failure("clEnqueueReadBuffer");
    struct object *queue = find_object(queue_handle, QUEUE), *buffer = find_buffer(handle);
    struct command *command;

    if (status != CL_SUCCESS) {
        return status;
    }
    if (queue == NULL) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (buffer == NULL) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (count != 0 || events != NULL || event != NULL) {
        return CL_INVALID_EVENT_WAIT_LIST; /* the emulator has no events */
    }
    if (to == NULL || size == 0 || offset > buffer->buffer.size ||
        size > buffer->buffer.size - offset) {
        return CL_INVALID_VALUE;
    }
    command = new_command(queue, buffer);
    if (command == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    command->offset = offset;
    command->size = size;
    command->to = to;
    if (blocking != 0) {
        run_queue(queue);
    }
    return CL_SUCCESS;
}

/* ---- Launches ---- */

/* The largest local size up to a wanted one that divides the global size. */
static unsigned long divisor(unsigned long size, unsigned long wanted)
{
    while (size % wanted != 0) {
        wanted--;
    }
    return wanted;
}

static void choose_local_size(struct __opkit_launch *launch)
{
    const char *text = attachment("opencl:local_size");
    unsigned long wanted[DIMENSIONS] = {USUAL_LOCAL_SIZE, 1, 1};

    if (text != NULL) {
        wanted[0] = 1;
        sscanf(text, "%lu %lu %lu", &wanted[0], &wanted[1], &wanted[2]);
    }
    for (int i = 0; i < DIMENSIONS; i++) {
        launch->local_size[i] = divisor(launch->global_size[i], wanted[i] == 0 ? 1 : wanted[i]);
    }
}

static int32_t read_sizes(const struct kernel *kernel, uint32_t dimensions, const size_t *offset,
                          const size_t *global, const size_t *local, struct __opkit_launch *launch)
{
    const unsigned long *required = kernel->needs + 1;
    unsigned long items = 1, group = 1;

    if (dimensions < 1 || dimensions > DIMENSIONS) {
        return CL_INVALID_WORK_DIMENSION;
    }
    if (global == NULL) {
        return CL_INVALID_GLOBAL_WORK_SIZE;
    }
    launch->dimensions = dimensions;
    for (uint32_t i = 0; i < DIMENSIONS; i++) {
        launch->global_size[i] = i < dimensions ? global[i] : 1;
        launch->global_offset[i] = i < dimensions && offset != NULL ? offset[i] : 0;
        launch->global_scale[i] = 1;
        launch->local_size[i] = i < dimensions && local != NULL ? local[i] : 1;
        if (launch->global_size[i] == 0 || launch->global_size[i] > INT32_MAX / items) {
            return CL_INVALID_GLOBAL_WORK_SIZE;
        }
        items *= launch->global_size[i];
    }
    if (local == NULL) {
        choose_local_size(launch);
    }
    for (uint32_t i = 0; i < DIMENSIONS; i++) {
        if (launch->local_size[i] > MAX_GROUP_SIZE) {
            return CL_INVALID_WORK_ITEM_SIZE;
        }
        if (launch->local_size[i] == 0 || launch->global_size[i] % launch->local_size[i] != 0 ||
            (required[0] != 0 && (local == NULL || launch->local_size[i] != required[i]))) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        group *= launch->local_size[i];
    }
    return group > MAX_GROUP_SIZE ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

/* Finds the buffers of the arguments. */
static int32_t check_arguments(struct kernel *kernel)
{
    size_t local = __opkit_local_size;

    for (unsigned i = 0; i < kernel->count; i++) {
        const struct __opkit_parameter *parameter = &kernel->parameters[i];
        struct argument *argument = &kernel->arguments[i];

        argument->buffer = argument->handle == NULL ? NULL : find_buffer(argument->handle);
        if (!argument->is_set || (argument->handle != NULL && argument->buffer == NULL)) {
            return CL_INVALID_KERNEL_ARGS;
        }
        if (parameter->kind == __OPKIT_CONSTANT_PARAMETER && argument->buffer != NULL &&
            argument->buffer->buffer.size > MAX_CONSTANT_BUFFER) {
            log_line("misuse\tthe buffer of `__constant` parameter '%s' has %zu bytes, and a Mali "
                     "takes %d",
                     parameter->name, argument->buffer->buffer.size, MAX_CONSTANT_BUFFER);
            return CL_OUT_OF_RESOURCES;
        }
        local += parameter->kind == __OPKIT_LOCAL_PARAMETER ? argument->size : 0;
    }
    if (local > LOCAL_MEMORY) {
        log_line("misuse\tkernel '%s' needs %zu bytes of local memory, and a Mali has %d",
                 kernel->name, local, LOCAL_MEMORY);
        return CL_OUT_OF_RESOURCES;
    }
    return CL_SUCCESS;
}

int32_t clEnqueueNDRangeKernel(opkit_cl_queue queue_handle, opkit_cl_kernel handle,
                               uint32_t dimensions, const size_t *offset, const size_t *global,
                               const size_t *local, uint32_t count, const void *events, void *event)
{
    int32_t status = injected_failure("clEnqueueNDRangeKernel");
    struct object *queue = find_object(queue_handle, QUEUE);
    struct object *object = find_object(handle, KERNEL);
    const char *reverse = attachment("opencl:reverse"), *fill = attachment("opencl:fill");
    struct __opkit_launch launch = {
        .reverse = reverse != NULL && atoi(reverse) != 0,
        .local_fill = (uint8_t)(fill == NULL ? 0xff : atoi(fill)),
        .begin_group = begin_group,
    };
    static struct kernel kernel; /* large, and the operator's stack is measured */
    struct command *command;

    if (status != CL_SUCCESS) {
        return status;
    }
    if (queue == NULL) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (object == NULL) {
        return CL_INVALID_KERNEL;
    }
    if (count != 0 || events != NULL || event != NULL) {
        return CL_INVALID_EVENT_WAIT_LIST; /* the emulator has no events */
    }
    kernel = object->kernel;
    launch.has_barrier = kernel.needs[0] != 0;
    status = check_arguments(&kernel);
    if (status == CL_SUCCESS) {
        status = read_sizes(&kernel, dimensions, offset, global, local, &launch);
    }
    if (status != CL_SUCCESS) {
        return status;
    }
    command = new_command(queue, object);
    if (command == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    command->launch = launch;
    command->kernel = kernel;
    for (unsigned i = 0; i < kernel.count; i++) {
        if (kernel.arguments[i].buffer != NULL) {
            retain_use(kernel.arguments[i].buffer);
        }
    }
    return CL_SUCCESS;
}

/* ---- The run ---- */

void opkit_opencl_begin(const struct harness_invocation *invocation, harness_record_f *record)
{
    begin_session(invocation, record);
    open_log();
    begin_memory();
}

void opkit_opencl_end(void)
{
    if (session.record == NULL) {
        return;
    }
    if (run.command != NULL) { /* after a fault: its memory is as the kernel left it */
        command_count = 0;
        __opkit_report_events();
        end_session(false);
        return;
    }
    if (command_count > 0) {
        log_line("misuse\tthe operator ends before clFinish has waited for its commands");
    }
    while (command_count > 0) {
        run_queue(commands[0]->queue);
    }
    __opkit_report_events();
    report_outputs();
    end_session(true);
}

bool opkit_opencl_describe_fault(struct harness_fault *fault, char *text, size_t size)
{
    const unsigned long *item = __opkit_item.global_id;
    const char *what = "crashed";

    if (run.command == NULL) {
        return false;
    }
    __opkit_locate_fault(fault);
    if (fault->signal == SIGALRM) {
        what = "did not end in time";
    } else if (fault->signal == SIGFPE) {
        what = "divides by zero, or its quotient does not fit";
    } else if (fault->address >= fault->stack_pointer - 4096 &&
               fault->address < fault->stack_pointer + 4096) {
        what = "overflows its stack";
    }
    snprintf(text, size, "%s in GPU kernel '%s', work item (%lu, %lu, %lu)", what,
             run.command->kernel.name, item[0], item[1], item[2]);
    return true;
}
