/*
 * Reads a job, line by line, from standard input: the kernel's library, its arguments in order, the
 * launch. Tensors travel in a file that both sides map. Reports on standard output.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

struct __opkit_tensor __opkit_tensors[__OPKIT_MAX_ARGUMENTS];
enum __opkit_border __opkit_border;
uint32_t __opkit_fill;
double __opkit_constant;

/* A vx_array of any items. */
struct array {
    size_t size;
    void *item;
};

static uint32_t fill_pattern; /* the pattern of bits that outputs hold beforehand */
static void *library;
static unsigned char *data; /* the file that is shared with the process that started this one */
static size_t data_size;
static struct __opkit_launch launch;
static double limit = 10;
static void *arguments[__OPKIT_MAX_ARGUMENTS];
static int argument_count, tensor_count;

/*
 * Memory below 2 GiB between guard pages, since kernels hold addresses in an int. The last byte
 * touches the upper guard.
 */
static unsigned char *device_memory(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (size + page - 1) / page * page;
    unsigned char *start =
        mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

    if (start == MAP_FAILED || mprotect(start + page, whole, PROT_READ | PROT_WRITE) != 0) {
        __opkit_die("no memory for a tensor of %zu bytes below 2 GiB", size);
    }
    return start + page + (whole - size) / 16 * 16;
}

static void *shared(size_t offset, size_t size)
{
    if (offset > data_size || size > data_size - offset) {
        __opkit_die("the job's data are too short");
    }
    return data + offset;
}

static size_t tensor_size(const struct __opkit_image *image)
{
    return (size_t)image->slice_stride * (size_t)image->depth;
}

static void fill(void *start, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)start)[i] = (unsigned char)(fill_pattern >> 8 * (i % 4));
    }
}

/* ---- The lines of a job ---- */

static void read_values(const char *line, int count, const char *format, ...)
{
    va_list places;
    va_start(places, format);
    if (vsscanf(line, format, places) != count) {
        __opkit_die("this line of the job is not understood: %s", line);
    }
    va_end(places);
}

static size_t library_size(void *base)
{
    const ElfW(Ehdr) *header = base;
    const ElfW(Phdr) *segment = (const void *)((const char *)base + header->e_phoff);
    size_t end = 0;

    for (int i = 0; i < header->e_phnum; i++) {
        size_t segment_end = segment[i].p_vaddr + segment[i].p_memsz;
        end = segment[i].p_type == PT_LOAD && segment_end > end ? segment_end : end;
    }
    return end;
}

static void *find_symbol(const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        __opkit_die("%s", dlerror());
    }
    return symbol;
}

static void on_library(const char *line)
{
    const struct link_map *map;
    unsigned char **local;
    void *base;

    library = dlopen(line, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        __opkit_die("%s", dlerror());
    }
    base = (void *)map->l_addr;
    __opkit_set_library(base, library_size(base));
    local = find_symbol("__opkit_local_memory");
    __opkit_local_start = local[0];
    __opkit_local_size = (size_t)(local[1] - local[0]);
    __opkit_allow_library(base, library_size(base));
}

static void on_data(const char *line)
{
    struct stat status;
    int file = open(line, O_RDWR);

    if (file < 0 || fstat(file, &status) != 0) {
        __opkit_die("%s cannot be opened", line);
    }
    data_size = (size_t)status.st_size;
    data = mmap(NULL, data_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
        __opkit_die("%s cannot be mapped", line);
    }
    close(file);
}

static void on_limit(const char *line)
{
    read_values(line, 1, "%lf", &limit);
}

static void on_fill(const char *line)
{
    read_values(line, 1, "%u", &fill_pattern);
}

static void on_border(const char *line)
{
    int border;
    read_values(line, 3, "%d %u %lf", &border, &__opkit_fill, &__opkit_constant);
    __opkit_border = (enum __opkit_border)border;
}

static void on_launch(const char *line)
{
    int reverse, barrier;
    unsigned long *size = launch.global_size, *scale = launch.global_scale,
                  *offset = launch.global_offset, *local = launch.local_size;

    read_values(line, 15, "%u %d %d %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu",
                &launch.dimensions, &reverse, &barrier, &size[0], &size[1], &size[2], &scale[0],
                &scale[1], &scale[2], &offset[0], &offset[1], &offset[2], &local[0], &local[1],
                &local[2]);
    launch.reverse = reverse != 0;
    launch.barrier = barrier != 0;
}

/* The place of the next argument. */
static void **next_argument(void)
{
    if (argument_count == __OPKIT_MAX_ARGUMENTS) {
        __opkit_die("more than %d arguments", __OPKIT_MAX_ARGUMENTS);
    }
    return &arguments[argument_count++];
}

static void on_tensor(const char *line)
{
    void **argument = next_argument();
    struct __opkit_tensor *tensor = &__opkit_tensors[tensor_count];
    struct __opkit_image *image = &tensor->image;
    long offset, written;
    size_t size;

    read_values(line, 7, "%255s %d %d %d %d %ld %ld", tensor->name, &image->type, &image->width,
                &image->height, &image->depth, &offset, &written);
    image->element_size = __opkit_size_of(image->type);
    image->row_stride = image->width * image->element_size;
    image->slice_stride = image->row_stride * image->height;
    image->index = tensor_count++;
    size = tensor_size(image);
    image->data = device_memory(size);
    image->address = (int)(uintptr_t)image->data;
    if (written >= 0) {
        size_t count = size / (size_t)image->element_size;
        image->written = shared((size_t)written, count);
        __opkit_allow(NULL, image->written, count);
        fill(image->data, size);
    } else {
        memcpy(image->data, shared((size_t)offset, size), size);
    }
    tensor->offset = (size_t)offset;
    *argument = image;
    __opkit_allow(tensor->name, image->data, size);
    __opkit_allow(NULL, image, sizeof *image);
}

static void on_scalar(const char *line)
{
    char name[__OPKIT_MAX_NAME];
    unsigned long long bits;
    void **argument = next_argument();

    read_values(line, 2, "%255s %llx", name, &bits);
    *argument = memcpy(device_memory(sizeof bits), &bits, sizeof bits);
    __opkit_allow(strdup(name), *argument, sizeof bits);
}

static void on_array(const char *line)
{
    char name[__OPKIT_MAX_NAME];
    size_t offset, count, item_size;
    struct array *array = malloc(sizeof *array);
    void **argument = next_argument();

    read_values(line, 4, "%255s %zu %zu %zu", name, &offset, &count, &item_size);
    array->size = count;
    array->item = memcpy(device_memory(count * item_size), shared(offset, count * item_size),
                         count * item_size);
    *argument = array;
    __opkit_allow(NULL, array, sizeof *array);
    __opkit_allow(strdup(name), array->item, count * item_size);
}

static void on_uniform(const char *line)
{
    char name[__OPKIT_MAX_NAME];
    size_t offset, size;
    ElfW(Sym) *symbol = NULL;
    Dl_info information;
    void *variable;

    read_values(line, 3, "%255s %zu %zu", name, &offset, &size);
    variable = dlsym(library, name);
    if (variable == NULL) {
        __opkit_die("the kernel has no _viv_uniform '%s'", name);
    }
    dladdr1(variable, &information, (void **)&symbol, RTLD_DL_SYMENT);
    if (symbol == NULL || symbol->st_size != size) {
        __opkit_die("the _viv_uniform '%s' has %zu bytes, but its value %zu", name,
                    symbol == NULL ? 0 : (size_t)symbol->st_size, size);
    }
    memcpy(variable, shared(offset, size), size);
    __opkit_guard_uniform(strdup(name), variable, size);
}

static void on_run(const char *line)
{
    void (*kernel)(void **);
    void *symbol = find_symbol(line);
    struct timespec begin, end;

    memcpy(&kernel, &symbol, sizeof kernel);
    __opkit_allow(NULL, &__opkit_item, sizeof __opkit_item);
    __opkit_allow(NULL, arguments, sizeof arguments);
    __opkit_catch_faults(limit);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    __opkit_run(&launch, kernel, arguments);
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (int i = 0; i < tensor_count; i++) {
        const struct __opkit_image *image = &__opkit_tensors[i].image;
        if (image->written != NULL) {
            memcpy(shared(__opkit_tensors[i].offset, tensor_size(image)), image->data,
                   tensor_size(image));
        }
    }
    __opkit_report_copies();
    __opkit_report_events();
    __opkit_emit("seconds\t%.9f", (double)(end.tv_sec - begin.tv_sec) +
                                      (double)(end.tv_nsec - begin.tv_nsec) * 1e-9);
}

static const struct {
    const char *keyword;
    void (*handle)(const char *line);
} lines[] = {
    {"library ", on_library}, {"data ", on_data},     {"limit ", on_limit},
    {"fill ", on_fill},       {"border ", on_border}, {"launch ", on_launch},
    {"tensor ", on_tensor},   {"scalar ", on_scalar}, {"array ", on_array},
    {"uniform ", on_uniform}, {"run ", on_run},
};

int main(void)
{
    static char line[8192];

    __opkit_log_open();
    __opkit_open_shadow();
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t k = 0;
        line[strcspn(line, "\n")] = '\0';
        while (k < sizeof lines / sizeof *lines &&
               strncmp(line, lines[k].keyword, strlen(lines[k].keyword)) != 0) {
            k++;
        }
        if (k == sizeof lines / sizeof *lines) {
            __opkit_die("this line of the job is not understood: %s", line);
        }
        lines[k].handle(line + strlen(lines[k].keyword));
    }
    return 0;
}
