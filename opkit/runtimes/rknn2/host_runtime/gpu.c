/* See gpu.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu.h"
#include "opkit/runtimes/rknn2/opencl.h"

static struct opkit_opencl cl;
static void (*end_session)(void);
static bool (*describe)(struct harness_fault *fault, char *text, size_t size);
static rknn_gpu_op_context shared; /* by all nodes of a thread, as librknnrt does */
static rknn_gpu_op_context another;
static opkit_cl_device device;
static unsigned users;

/* The CPU kernel runs, unless the check of the GPU kernel has set this. */
__attribute__((constructor)) static void choose_cpu(void)
{
    setenv("RKNN_OP_DEVICE", "cpu", 0);
}

/* Returns a function of the library for checks, or NULL in another library. */
static void *session_function(const char *name)
{
    const char *path = getenv("RKNN_OP_OPENCL");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

    return library != NULL ? dlsym(library, name) : NULL;
}

static bool make_context(rknn_gpu_op_context *made)
{
    int32_t status;

    made->cl_context = cl.CreateContext(NULL, 1, &device, NULL, NULL, &status);
    made->cl_command_queue =
        made->cl_context != NULL
            ? cl.CreateCommandQueue((opkit_cl_context)made->cl_context, device, 0, &status)
            : NULL;
    return made->cl_command_queue != NULL;
}

static void release_context(rknn_gpu_op_context *made)
{
    if (made->cl_context != NULL) {
        cl.ReleaseCommandQueue((opkit_cl_queue)made->cl_command_queue);
        cl.ReleaseContext((opkit_cl_context)made->cl_context);
    }
    memset(made, 0, sizeof *made);
}

const char *gpu_open(const struct harness_invocation *invocation, harness_record_f *record,
                     rknn_gpu_op_context *context)
{
    void (*begin)(const struct harness_invocation *, harness_record_f *);
    void *symbol = session_function("opkit_opencl_begin");
    opkit_cl_platform platform;

    if (symbol != NULL) {
        memcpy(&begin, &symbol, sizeof symbol);
        begin(invocation, record);
        symbol = session_function("opkit_opencl_end");
        memcpy(&end_session, &symbol, sizeof symbol);
        symbol = session_function("opkit_opencl_describe_fault");
        memcpy(&describe, &symbol, sizeof symbol);
    }
    if (users > 0) {
        *context = shared;
        users++;
        return NULL;
    }
    const char *problem = opkit_open_opencl(&cl);
    if (problem != NULL) {
        return problem;
    }
    if (cl.GetPlatformIDs(1, &platform, NULL) != OPKIT_CL_SUCCESS ||
        cl.GetDeviceIDs(platform, OPKIT_CL_DEVICE_TYPE_GPU, 1, &device, NULL) != OPKIT_CL_SUCCESS) {
        return "OpenCL has no device";
    }
    if (!make_context(&shared)) {
        return "OpenCL makes no context and queue";
    }
    *context = shared;
    users = 1;
    return NULL;
}

bool gpu_open_another(rknn_gpu_op_context *context)
{
    if (another.cl_context == NULL && !make_context(&another)) {
        return false;
    }
    *context = another;
    return true;
}

void gpu_close(void)
{
    if (--users == 0) {
        release_context(&shared);
        release_context(&another);
    }
    gpu_abandon();
}

void gpu_abandon(void)
{
    if (end_session != NULL) {
        end_session();
    }
}

bool gpu_describe_fault(struct harness_fault *fault, char *text, size_t size)
{
    return describe != NULL && describe(fault, text, size);
}

/* Returns the bytes of whole pages, at least one. */
static size_t whole_pages(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (size + page) / page * page;
}

bool gpu_allocate(rknn_tensor_mem *mem, const char *name, const void *elements, size_t size,
                  size_t offset)
{
    const size_t whole = whole_pages(offset + size);

    mem->fd = (int)syscall(SYS_memfd_create, name, 0U); /* older than the function in glibc */
    if (mem->fd < 0 || ftruncate(mem->fd, (off_t)whole) != 0) {
        return false;
    }
    mem->virt_addr = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, mem->fd, 0);
    if (mem->virt_addr == MAP_FAILED) {
        mem->virt_addr = NULL;
        return false;
    }
    mem->offset = (int32_t)offset;
    mem->size = (uint32_t)size;
    memcpy((char *)mem->virt_addr + offset, elements, size);
    return true;
}

void gpu_free(rknn_tensor_mem *mem)
{
    if (mem->virt_addr != NULL) {
        munmap(mem->virt_addr, whole_pages((size_t)mem->offset + mem->size));
    }
    if (mem->fd >= 0) {
        close(mem->fd);
    }
}
