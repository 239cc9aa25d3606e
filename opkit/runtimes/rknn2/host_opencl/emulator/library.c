/* The compiled source. */
#include <link.h>

#include "emulator.h"

static void *library;
static char path[4096];
static const char *base;
static size_t size;

static size_t size_of_library(void)
{
    const ElfW(Ehdr) *header = (const void *)base;
    const ElfW(Phdr) *segment = (const void *)(base + header->e_phoff);
    size_t end = 0;

    for (int i = 0; i < header->e_phnum; i++) {
        size_t segment_end = segment[i].p_vaddr + segment[i].p_memsz;
        end = segment[i].p_type == PT_LOAD && segment_end > end ? segment_end : end;
    }
    return end;
}

/* A kernel finds the runtime's functions among those that are global. */
static void make_global(void)
{
    Dl_info information;

    dladdr(&session, &information);
    dlopen(information.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

void open_log(void)
{
    __opkit_open_log(session.record, base, size);
}

const char *open_library(void)
{
    const char *program = attachment("opencl:program");
    unsigned char **local;
    Dl_info information;

    if (program == NULL) {
        return "the emulator has no compiled program";
    }
    if (library != NULL && strcmp(path, program) == 0) {
        return NULL;
    }
    if (library != NULL) {
        return "the emulator runs one program in a process";
    }
    make_global();
    library = dlopen(program, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return dlerror();
    }
    snprintf(path, sizeof path, "%s", program);
    local = dlsym(library, "__opkit_local_memory");
    dladdr(local, &information);
    base = information.dli_fbase;
    size = size_of_library();
    open_log();
    __opkit_open_shadow();
    __opkit_local_start = local[0];
    __opkit_local_size = (size_t)(local[1] - local[0]);
    __opkit_allow_library(base, size);
    __opkit_allow(NULL, &__opkit_item, sizeof __opkit_item);
    return NULL;
}

const void *library_symbol(const char *prefix, const char *name)
{
    char symbol[256];

    snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
    return dlsym(library, symbol);
}
