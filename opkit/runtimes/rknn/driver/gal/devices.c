/*
 * open() before libc's, because this library is preloaded: librknn_runtime opens /dev/dri/card0 for
 * buffers that it does not need here. A device of the PC looks missing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_hidden(const char *path)
{
    static const char *const VISIBLE[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"};
    struct stat attributes;

    for (size_t i = 0; i < sizeof VISIBLE / sizeof *VISIBLE; i++) {
        if (strcmp(path, VISIBLE[i]) == 0) {
            return 0;
        }
    }
    return stat(path, &attributes) == 0 &&
           (S_ISCHR(attributes.st_mode) || S_ISBLK(attributes.st_mode));
}

/* Declared without <fcntl.h>'s attributes, and for open64 on both word sizes. */
__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    va_start(arguments, flags);
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        mode = va_arg(arguments, mode_t);
    }
    va_end(arguments);
    if (is_hidden(path)) {
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

__attribute__((visibility("default"), alias("open"))) int open64(const char *path, int flags, ...);
