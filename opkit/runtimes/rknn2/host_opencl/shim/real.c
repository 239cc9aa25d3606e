/* The library behind the shim. */
#include "shim.h"

struct opkit_opencl real;
int32_t (*get_kernel_info)(opkit_cl_kernel, uint32_t, size_t, void *, size_t *);
void *(*map_buffer)(opkit_cl_queue, opkit_cl_buffer, uint32_t, uint64_t, size_t, size_t, uint32_t,
                    const void *, void *, int32_t *);
int32_t (*unmap_object)(opkit_cl_queue, opkit_cl_buffer, void *, uint32_t, const void *, void *);

static void load(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    if (address == NULL) {
        log_line("misuse\tthe OpenCL behind the shim has no %s", name);
    }
    memcpy(function, &address, sizeof address);
}

bool open_real(void)
{
    static void *library;
    const char *path = attachment("opencl:real");

    if (library != NULL) {
        return true;
    }
    path = path == NULL ? "libOpenCL.so.1" : path;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == NULL) {
        log_line("misuse\tthe OpenCL behind the shim cannot be loaded: %s", dlerror());
        return false;
    }
#define LOAD(name, result, parameters) load(library, "cl" #name, &real.name);
    OPKIT_OPENCL_FUNCTIONS(LOAD)
#undef LOAD
    load(library, "clGetKernelInfo", &get_kernel_info);
    load(library, "clEnqueueMapBuffer", &map_buffer);
    load(library, "clEnqueueUnmapMemObject", &unmap_object);
    return true;
}
