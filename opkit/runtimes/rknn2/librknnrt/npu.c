/*
 * A stand-in for the driver of Rockchip's NPU, for running librknnrt without a board.
 *
 * The loader takes this library before libc (LD_PRELOAD), so that librknnrt's calls for the device
 * end here: the device is a file in memory, its buffers are others, and a job of the NPU succeeds
 * without computing anything. Files in /dev that librknnrt would make or delete stay as they are,
 * and no device of this machine is opened.
 *
 * Layouts and numbers are those of the Linux kernel's interface, DRM and its rknpu driver;
 * librknnrt 1.6.0 accepts the answers.
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define EXPORT __attribute__((visibility("default")))

/* The next definition of a function, which is libc's. */
#define LIBC(function, name)                               \
    do {                                                   \
        if ((function) == NULL) {                          \
            void *address = dlsym(RTLD_NEXT, name);        \
            memcpy(&(function), &address, sizeof address); \
        }                                                  \
    } while (0)

enum {
    MAX_DESCRIPTORS = 1024,
    MAX_BUFFERS = 4096,
    OFFSET_BITS = 20, /* of the offset by which a buffer is mapped: its handle follows them */
    PAGE = 4096,
    DRM_MAJOR = 226
};

static bool is_device[MAX_DESCRIPTORS];

static struct {
    int file; /* 0: no buffer */
    uint64_t size;
    uint64_t address; /* for the NPU */
} buffers[MAX_BUFFERS];

static uint32_t buffer_count = 1; /* 0 is no handle */
static uint64_t next_address = 0xfff00000; /* counted down */

static int fail(int error)
{
    errno = error;
    return -1;
}

static int new_file(void)
{
    return (int)syscall(SYS_memfd_create, "npu", 0);
}

static bool is_known(int descriptor)
{
    return descriptor >= 0 && descriptor < MAX_DESCRIPTORS && is_device[descriptor];
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- Requests ---- */

enum request {
    GET_VERSION = 0x00, /* those of DRM */
    GET_UNIQUE = 0x01,
    SET_VERSION = 0x07,
    CLOSE_BUFFER = 0x09,
    NAME_BUFFER = 0x0a,
    EXPORT_BUFFER = 0x2d,
    IMPORT_BUFFER = 0x2e,
    ACT = 0x40, /* those of the rknpu driver */
    SUBMIT = 0x41,
    CREATE_MEMORY = 0x42,
    MAP_MEMORY = 0x43,
    DESTROY_MEMORY = 0x44,
    SYNCHRONIZE_MEMORY = 0x45
};

struct drm_version {
    int major, minor, patch;
    size_t name_length;
    char *name;
    size_t date_length;
    char *date;
    size_t description_length;
    char *description;
};

struct drm_unique {
    size_t length;
    char *unique;
};

struct drm_prime {
    uint32_t handle;
    uint32_t flags;
    int32_t file;
};

struct npu_action {
    uint32_t action;
    uint32_t value;
};

struct npu_submit {
    uint32_t flags, timeout, task_start, task_number, task_counter;
    /* More follows. */
};

struct npu_memory {
    uint32_t handle, flags;
    uint64_t size, object, address, sram_size;
    /* In later drivers more follows. */
};

struct npu_map {
    uint32_t handle, reserved;
    uint64_t offset;
};

static bool has_buffer(uint32_t handle)
{
    return handle > 0 && handle < buffer_count && buffers[handle].file > 0;
}

/* Adds a buffer; returns its handle, or 0. */
static uint32_t add_buffer(int file, uint64_t size)
{
    if (file < 0 || buffer_count >= MAX_BUFFERS) {
        return 0;
    }
    next_address -= size;
    buffers[buffer_count].file = file;
    buffers[buffer_count].size = size;
    buffers[buffer_count].address = next_address;
    return buffer_count++;
}

/* Stores a text in a buffer of the caller's, which is cut, and its whole length. */
static void store_text(const char *text, char *target, size_t *length)
{
    const size_t size = strlen(text);

    if (target != NULL) {
        memcpy(target, text, size < *length ? size : *length);
    }
    *length = size;
}

static int accept(void *argument)
{
    (void)argument;
    return 0;
}

static int refuse(void *argument)
{
    (void)argument;
    return fail(EINVAL);
}

static int get_version(void *argument)
{
    struct drm_version *version = argument;

    version->major = 0;
    version->minor = 9;
    version->patch = 8;
    store_text("rknpu", version->name, &version->name_length);
    store_text("20240828", version->date, &version->date_length);
    store_text("RKNPU driver", version->description, &version->description_length);
    return 0;
}

static int get_unique(void *argument)
{
    ((struct drm_unique *)argument)->length = 0;
    return 0;
}

static int export_buffer(void *argument)
{
    struct drm_prime *prime = argument;

    if (!has_buffer(prime->handle)) {
        return fail(ENOENT);
    }
    prime->file = dup(buffers[prime->handle].file);
    return prime->file < 0 ? -1 : 0;
}

static int import_buffer(void *argument)
{
    struct drm_prime *prime = argument;
    const off64_t size = lseek64(prime->file, 0, SEEK_END);

    prime->handle = size < 0 ? 0 : add_buffer(dup(prime->file), (uint64_t)size);
    return prime->handle > 0 ? 0 : fail(ENOMEM);
}

static int act(void *argument)
{
    static const struct npu_action ANSWERS[] = {
        {0, 0x46495245}, /* the version of the hardware: RK3588 */
        {1, 908}, /* the version of the driver: 0.9.8 */
        {2, 1000000000}, /* Hz */
        {4, 800000}, /* microvolts */
        {18, 1}, /* the IOMMU is on */
    };
    struct npu_action *action = argument;

    action->value = 0;
    for (size_t i = 0; i < LENGTH(ANSWERS); i++) {
        if (ANSWERS[i].action == action->action) {
            action->value = ANSWERS[i].value;
        }
    }
    return 0;
}

static int submit(void *argument)
{
    struct npu_submit *job = argument;

    job->task_counter = job->task_number;
    return 0;
}

static int create_memory(void *argument)
{
    struct npu_memory *memory = argument;

    if (!has_buffer(memory->handle)) {
        const uint64_t size = (memory->size + PAGE - 1) / PAGE * PAGE;
        const int file = new_file();
        if (file < 0 || ftruncate64(file, (off64_t)size) != 0) {
            return fail(ENOMEM);
        }
        memory->handle = add_buffer(file, size);
        if (memory->handle == 0) {
            close(file);
            return fail(ENOMEM);
        }
    }
    memory->size = buffers[memory->handle].size;
    memory->object = 0xff0000 + memory->handle; /* not 0 */
    memory->address = buffers[memory->handle].address;
    memory->sram_size = 0;
    return 0;
}

/* Closes a buffer, whose handle is the first field of the argument; mappings of it stay. */
static int destroy_memory(void *argument)
{
    const uint32_t handle = *(const uint32_t *)argument;

    if (has_buffer(handle)) {
        close(buffers[handle].file);
        buffers[handle].file = 0;
    }
    return 0;
}

static int map_memory(void *argument)
{
    struct npu_map *map = argument;

    map->offset = (uint64_t)map->handle << OFFSET_BITS;
    return 0;
}

/* Answers a request for the device. */
static int answer(unsigned long request, void *argument)
{
    static const struct {
        enum request number;
        int (*function)(void *argument);
    } REQUESTS[] = {
        {GET_VERSION, get_version},
        {GET_UNIQUE, get_unique},
        {SET_VERSION, accept},
        {CLOSE_BUFFER, destroy_memory},
        {NAME_BUFFER, refuse},
        {EXPORT_BUFFER, export_buffer},
        {IMPORT_BUFFER, import_buffer},
        {ACT, act},
        {SUBMIT, submit},
        {CREATE_MEMORY, create_memory},
        {MAP_MEMORY, map_memory},
        {DESTROY_MEMORY, destroy_memory},
        {SYNCHRONIZE_MEMORY, accept},
    };
    const enum request number = request & 0xff;
    const char type = (char)(request >> 8 & 0xff);

    for (size_t i = 0; i < LENGTH(REQUESTS); i++) {
        if (type == 'd' && REQUESTS[i].number == number) {
            return REQUESTS[i].function(argument);
        }
    }
    fprintf(stderr, "opkit's NPU: unknown request %#lx\n", request);
    return fail(EINVAL);
}

/* ---- libc's functions ---- */

EXPORT int ioctl(int descriptor, unsigned long request, ...)
{
    static int (*libc)(int, unsigned long, ...);
    va_list arguments;

    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (is_known(descriptor)) {
        return answer(request, argument);
    }
    if ((request >> 8 & 0xff) == 'b') { /* the synchronization of a buffer */
        return 0;
    }
    LIBC(libc, "ioctl");
    return libc(descriptor, request, argument);
}

/* Whether a path is a device of the NPU, or one that librknnrt tries in its place. */
static bool is_npu(const char *path)
{
    static const char *const PATHS[] = {"/dev/dri", "/dev/rknpu", "/dev/dma_heap",
                                        "/dev/rk_dma_heap"};

    for (size_t i = 0; i < LENGTH(PATHS); i++) {
        if (begins_with(path, PATHS[i])) {
            return true;
        }
    }
    return false;
}

static int open_npu(const char *path)
{
    if (strcmp(path, "/dev/dri/card0") != 0 && strcmp(path, "/dev/dri/renderD128") != 0) {
        return fail(begins_with(path, "/dev/dri/") ? ENODEV : ENOENT);
    }
    const int descriptor = new_file();
    if (descriptor >= MAX_DESCRIPTORS) {
        close(descriptor);
        return fail(EMFILE);
    }
    if (descriptor >= 0) {
        is_device[descriptor] = true;
    }
    return descriptor;
}

#define OPEN(name)                                         \
    EXPORT int name(const char *path, int flags, ...)      \
    {                                                      \
        static int (*libc)(const char *, int, ...);        \
        va_list arguments;                                 \
                                                           \
        if (is_npu(path)) {                                \
            return open_npu(path);                         \
        }                                                  \
        va_start(arguments, flags);                        \
        const unsigned mode = va_arg(arguments, unsigned); \
        va_end(arguments);                                 \
        LIBC(libc, #name);                                 \
        return libc(path, flags, mode);                    \
    }

OPEN(open)
OPEN(open64)

EXPORT int close(int descriptor)
{
    static int (*libc)(int);

    if (is_known(descriptor)) {
        is_device[descriptor] = false;
    }
    LIBC(libc, "close");
    return libc(descriptor);
}

EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int descriptor,
                    off64_t offset)
{
    static void *(*libc)(void *, size_t, int, int, int, off64_t);

    LIBC(libc, "mmap64");
    if (!is_known(descriptor)) {
        return libc(address, length, protection, flags, descriptor, offset);
    }
    const uint32_t handle = (uint32_t)(offset >> OFFSET_BITS);
    if (!has_buffer(handle)) {
        fail(EINVAL);
        return MAP_FAILED;
    }
    return libc(address, length, protection, MAP_SHARED, buffers[handle].file, 0);
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int descriptor,
                  off_t offset)
{
    /* The offset of a buffer fits in 32 bits, of which off_t may take one as the sign. */
    const off64_t whole = is_known(descriptor) ? (off64_t)offset & UINT32_MAX : offset;
    return mmap64(address, length, protection, flags, descriptor, whole);
}

EXPORT DIR *opendir(const char *path)
{
    static DIR *(*libc)(const char *);

    if (is_npu(path)) {
        fail(ENOENT);
        return NULL;
    }
    LIBC(libc, "opendir");
    return libc(path);
}

/* Describes /dev/dri, or a device in it; returns whether the path is one. */
static bool describe(const char *path, struct stat *found)
{
    const bool is_folder = strcmp(path, "/dev/dri") == 0;

    if (!is_folder && !begins_with(path, "/dev/dri/card") &&
        !begins_with(path, "/dev/dri/renderD")) {
        return false;
    }
    unsigned number = 0;
    const char *digits = path + strcspn(path, "0123456789");
    memset(found, 0, sizeof *found);
    found->st_mode = (is_folder ? S_IFDIR : S_IFCHR) | S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;
    sscanf(digits, "%u", &number);
    found->st_rdev = is_folder ? 0 : makedev(DRM_MAJOR, number);
    return true;
}

/* glibc's functions behind stat, lstat and fstat before 2.33; programs cannot link to them later.
 */
#ifdef __arm__
#define FIRST_GLIBC "GLIBC_2.4"
#else
#define FIRST_GLIBC "GLIBC_2.17"
#endif

#define STAT(name)                                                          \
    EXPORT int name(int version, const char *path, struct stat *found);     \
    int name(int version, const char *path, struct stat *found)             \
    {                                                                       \
        int (*libc)(int, const char *, struct stat *);                      \
        void *address = dlvsym(RTLD_NEXT, #name, FIRST_GLIBC);              \
                                                                            \
        if (describe(path, found)) {                                        \
            return 0;                                                       \
        }                                                                   \
        memcpy(&libc, &address, sizeof address);                            \
        return address == NULL ? fail(ENOSYS) : libc(version, path, found); \
    }

STAT(__xstat)
STAT(__lxstat)

EXPORT int __fxstat(int version, int descriptor, struct stat *found);
int __fxstat(int version, int descriptor, struct stat *found)
{
    int (*libc)(int, int, struct stat *);
    void *address = dlvsym(RTLD_NEXT, "__fxstat", FIRST_GLIBC);

    if (is_known(descriptor)) {
        describe("/dev/dri/card0", found);
        return 0;
    }
    memcpy(&libc, &address, sizeof address);
    return address == NULL ? fail(ENOSYS) : libc(version, descriptor, found);
}

/* What follows would change files in /dev, which librknnrt does as root: it has no effect. */

EXPORT int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
int __xmknod(int version, const char *path, mode_t mode, dev_t *device)
{
    (void)version;
    (void)path;
    (void)mode;
    (void)device;
    return 0;
}

#define CHANGE(name, parameters, arguments) \
    EXPORT int name parameters              \
    {                                       \
        static int(*libc) parameters;       \
                                            \
        if (begins_with(path, "/dev/")) {   \
            return 0;                       \
        }                                   \
        LIBC(libc, #name);                  \
        return libc arguments;              \
    }

CHANGE(mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device))
CHANGE(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGE(chmod, (const char *path, mode_t mode), (path, mode))
CHANGE(chown, (const char *path, uid_t user, gid_t group), (path, user, group))
CHANGE(unlink, (const char *path), (path))
CHANGE(remove, (const char *path), (path))
CHANGE(rmdir, (const char *path), (path))

/* librknnrt copies and removes files of its debugging by commands. */
EXPORT int system(const char *command)
{
    (void)command;
    return 0;
}
