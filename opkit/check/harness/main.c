/* Loads the runtime and, in each invocation's process, the kernel; serves requests. */
#include "harness.h"

#include <stdlib.h>
#include <sys/resource.h>

const struct harness_runtime *runtime;

#ifdef HARNESS_ENTRY /* all is linked into this program */

extern char HARNESS_ENTRY[];
extern const struct harness_runtime harness_runtime;

static void load_runtime(char **arguments)
{
    (void)arguments;
    runtime = &harness_runtime;
}

void *load_kernel(char *problem, size_t size)
{
    (void)problem;
    (void)size;
    return HARNESS_ENTRY;
}

void unload_kernel(void)
{
}

ptrdiff_t offset_in_kernel(uintptr_t address)
{
    (void)address;
    return 0;
}

enum {
    ARGUMENTS = 1
};

#else

#include <dlfcn.h>

static const char *kernel_path;
static const char *kernel_symbol;
static void *kernel;
static void *kernel_base;

static void load_runtime(char **arguments)
{
    /* Global, so that the kernel's library finds it under its soname. */
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    runtime = library != NULL ? dlsym(library, HARNESS_RUNTIME) : NULL;
    if (runtime == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    kernel_path = arguments[2];
    kernel_symbol = arguments[3];
}

void *load_kernel(char *problem, size_t size)
{
    Dl_info information;

    /* Deep binding: it takes malloc from the runtime, its first dependency, not from libc. */
    kernel = dlopen(kernel_path, RTLD_NOW | RTLD_DEEPBIND);
    if (kernel == NULL) {
        snprintf(problem, size, "%s cannot be loaded: %s", kernel_path, dlerror());
        return NULL;
    }
    void *entry = dlsym(kernel, kernel_symbol);
    if (entry == NULL) {
        snprintf(problem, size, "%s has no %s, by which the runtime finds the kernel", kernel_path,
                 kernel_symbol);
        return NULL;
    }
    if (dladdr(entry, &information) != 0) {
        kernel_base = information.dli_fbase;
    }
    return entry;
}

void unload_kernel(void)
{
    dlclose(kernel);
}

ptrdiff_t offset_in_kernel(uintptr_t address)
{
    Dl_info information;
    const bool known = dladdr((const void *)address, &information) != 0;
    return known && information.dli_fbase == kernel_base
               ? (ptrdiff_t)(address - (uintptr_t)kernel_base)
               : 0;
}

enum {
    ARGUMENTS = 4
};

#endif

int main(int count, char **arguments)
{
    const struct rlimit no_core_files = {0, 0};
    struct harness_invocation invocation;

    if (count != ARGUMENTS) {
        fprintf(stderr, "usage: %s%s\n", arguments[0],
                ARGUMENTS > 1 ? " RUNTIME LIBRARY SYMBOL" : "");
        return EXIT_FAILURE;
    }
    setrlimit(RLIMIT_CORE, &no_core_files);
    load_runtime(arguments);
    init_supervisor();
    open_answers();
    while (read_request(&invocation)) {
        supervise(&invocation);
        end_answer();
        free_request(&invocation);
    }
    return EXIT_SUCCESS;
}
