/* Command queues, launches and reads. */
#include "shim.h"

enum {
    KERNEL_FUNCTION_NAME = 0x1190
};

static unsigned pending; /* launches that clFinish has not waited for */

opkit_cl_queue clCreateCommandQueue(opkit_cl_context context, opkit_cl_device device,
                                    uint64_t properties, int32_t *status)
{
    int32_t failure = injected_failure("clCreateCommandQueue");
    opkit_cl_queue queue;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    queue = real.CreateCommandQueue(context, device, properties, status);
    count_object(QUEUE, queue == NULL ? 0 : 1);
    return queue;
}

int32_t clReleaseCommandQueue(opkit_cl_queue queue)
{
    if (pending > 0) {
        log_line("misuse\ta command queue is released before clFinish has waited for its commands");
        pending = 0;
    }
    count_object(QUEUE, -1);
    return real.ReleaseCommandQueue(queue);
}

static void describe(const size_t *size, uint32_t dimensions, char *text, size_t capacity)
{
    int length = 0;

    snprintf(text, capacity, "-");
    for (uint32_t i = 0; size != NULL && i < dimensions; i++) {
        length +=
            snprintf(text + length, capacity - (size_t)length, "%s%zu", i > 0 ? "," : "", size[i]);
    }
}

int32_t clEnqueueNDRangeKernel(opkit_cl_queue queue, opkit_cl_kernel kernel, uint32_t dimensions,
                               const size_t *offset, const size_t *global, const size_t *local,
                               uint32_t count, const void *events, void *event)
{
    int32_t status = injected_failure("clEnqueueNDRangeKernel");
    char name[128] = "", global_text[80], local_text[80];

    if (status != CL_SUCCESS) {
        return status;
    }
    keep_process();
    if (pending == 0) {
        send_imports(queue);
    }
    status = real.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count,
                                       events, event);
    restore_process();
    if (status == CL_SUCCESS) {
        pending++;
        get_kernel_info(kernel, KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
        describe(global, dimensions, global_text, sizeof global_text);
        describe(local, dimensions, local_text, sizeof local_text);
        log_line("launch\t%s\t%s\t%s", name, global_text, local_text);
    }
    return status;
}

int32_t clEnqueueReadBuffer(opkit_cl_queue queue, opkit_cl_buffer buffer, uint32_t blocking,
                            size_t offset, size_t size, void *to, uint32_t count,
                            const void *events, void *event)
{
    int32_t status = injected_failure("clEnqueueReadBuffer");

    if (status != CL_SUCCESS) {
        return status;
    }
    keep_process();
    status =
        real.EnqueueReadBuffer(queue, buffer, blocking, offset, size, to, count, events, event);
    if (status == CL_SUCCESS && blocking != 0) {
        fetch_imports(queue);
        pending = 0;
    }
    restore_process();
    return status;
}

int32_t clFinish(opkit_cl_queue queue)
{
    int32_t failure = injected_failure("clFinish"), status;

    keep_process();
    if (pending > 0) {
        fetch_imports(queue);
        pending = 0;
    }
    status = real.Finish(queue);
    restore_process();
    return failure != CL_SUCCESS ? failure : status;
}

void opkit_opencl_begin(const struct harness_invocation *invocation, harness_record_f *record)
{
    begin_session(invocation, record);
}

void opkit_opencl_end(void)
{
    if (session.record == NULL) {
        return;
    }
    if (pending > 0) {
        log_line("misuse\tthe operator ends before clFinish has waited for its commands");
        pending = 0;
    }
    unmap_released();
    end_session(true);
}

bool opkit_opencl_describe_fault(struct harness_fault *fault, char *text, size_t size)
{
    (void)fault;
    (void)text;
    (void)size;
    return false; /* kernels run in threads of the library behind */
}
