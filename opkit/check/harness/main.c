/* Loads the runtime and, in the process of each batch, the kernel; serves requests. */
#include "harness.h"

#include <stdlib.h>
#include <sys/resource.h>

#ifdef HARNESS_ENTRY /* runtime and kernel are linked into this program */

extern char HARNESS_ENTRY[];
extern const struct harness_runtime harness_runtime;

static void *load(char *problem, size_t size)
{
    (void)problem;
    (void)size;
    return HARNESS_ENTRY;
}

static void unload(void)
{
}

static ptrdiff_t offset(uintptr_t address)
{
    (void)address;
    return 0;
}

static const struct harness_runtime *load_runtime(char **arguments)
{
    (void)arguments;
    return &harness_runtime;
}

enum {
    ARGUMENTS = 1
};

#else

#include <dlfcn.h>

static const char *path;
static const char *symbol;
static void *library;
static void *base;

static void *load(char *problem, size_t size)
{
    Dl_info information;

    /* Deep binding: malloc is that of the runtime, its first dependency, not of libc. */
    library = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
    if (library == NULL) {
        snprintf(problem, size, "%s cannot be loaded: %s", path, dlerror());
        return NULL;
    }
    void *entry = dlsym(library, symbol);
    if (entry == NULL) {
        snprintf(problem, size, "%s has no %s, by which the runtime finds the kernel", path,
                 symbol);
        return NULL;
    }
    if (dladdr(entry, &information) != 0) {
        base = information.dli_fbase;
    }
    return entry;
}

static void unload(void)
{
    dlclose(library);
}

static ptrdiff_t offset(uintptr_t address)
{
    Dl_info information;
    const bool known = dladdr((const void *)address, &information) != 0;
    return known && information.dli_fbase == base ? (ptrdiff_t)(address - (uintptr_t)base) : 0;
}

static const struct harness_runtime *load_runtime(char **arguments)
{
    /* Global, so that the kernel's library finds it by its soname. */
    void *runtime_library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    void *runtime = runtime_library != NULL ? dlsym(runtime_library, HARNESS_RUNTIME) : NULL;
    if (runtime == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    path = arguments[2];
    symbol = arguments[3];
    return runtime;
}

enum {
    ARGUMENTS = 4
};

#endif

int main(int count, char **arguments)
{
    const struct rlimit no_core_files = {0, 0};
    struct batch batch;

    if (count != ARGUMENTS) {
        fprintf(stderr, "usage: %s%s\n", arguments[0],
                ARGUMENTS > 1 ? " RUNTIME LIBRARY SYMBOL" : "");
        return EXIT_FAILURE;
    }
    setrlimit(RLIMIT_CORE, &no_core_files);
    const struct harness_kernel kernel = {load_runtime(arguments), load, unload, offset};
    init_supervisor();
    open_answers();
    while (read_request(&batch)) {
        supervise(&batch, &kernel);
        end_answer();
        free_request(&batch);
    }
    return EXIT_SUCCESS;
}
