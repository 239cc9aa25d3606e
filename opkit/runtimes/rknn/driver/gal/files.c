/* Files, libraries, environment variables. */
#define _GNU_SOURCE
#include "gal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a name is that of a device; its contents are never to be opened. */
static int is_device(const char *name)
{
    struct stat attributes;

    return stat(name, &attributes) == 0 &&
           (S_ISCHR(attributes.st_mode) || S_ISBLK(attributes.st_mode));
}

enum gal_status gcoOS_Open(void *os, const char *name, int mode, void **file)
{
    static const char *const MODES[] = {"r", "w", "a", "r", "rb", "wb", "ab"};
    enum {
        MODE_COUNT = sizeof MODES / sizeof *MODES
    };

    (void)os;
    if (mode < 0 || mode >= MODE_COUNT || is_device(name)) {
        return GAL_INVALID;
    }
    *file = fopen(name, MODES[mode]);
    return *file != NULL ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_Close(void *os, void *file)
{
    (void)os;
    return fclose(file) == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_Read(void *os, void *file, size_t size, void *bytes, size_t *count)
{
    const size_t found = fread(bytes, 1, size, file);

    (void)os;
    if (count != NULL) {
        *count = found;
    }
    return found > 0 || size == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_Write(void *os, void *file, size_t size, const void *bytes)
{
    (void)os;
    return fwrite(bytes, 1, size, file) == size ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_Flush(void *os, void *file)
{
    (void)os;
    return fflush(file) == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_Seek(void *os, void *file, uint32_t offset, int from)
{
    static const int ORIGINS[] = {SEEK_SET, SEEK_CUR, SEEK_END};

    (void)os;
    return fseek(file, (long)offset, ORIGINS[from >= 0 && from < 2 ? from : 2]) == 0 ? GAL_OK
                                                                                     : GAL_INVALID;
}

enum gal_status gcoOS_SetPos(void *os, void *file, uint32_t position)
{
    return gcoOS_Seek(os, file, position, 0);
}

enum gal_status gcoOS_GetPos(void *os, void *file, uint32_t *position)
{
    (void)os;
    *position = (uint32_t)ftell(file);
    return GAL_OK;
}

enum gal_status gcoOS_Stat(void *os, const char *name, void *attributes)
{
    (void)os;
    return stat(name, attributes) == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_Remove(void *os, const char *name)
{
    (void)os;
    return unlink(name) == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_LoadLibrary(void *os, const char *name, void **library)
{
    char file[256];

    (void)os;
    *library = dlopen(name, RTLD_LAZY);
    if (*library == NULL && name != NULL && strstr(name, ".so") == NULL) {
        snprintf(file, sizeof file, "%s.so", name);
        *library = dlopen(file, RTLD_LAZY);
    }
    return *library != NULL ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_FreeLibrary(void *os, void *library)
{
    (void)os;
    return dlclose(library) == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_GetProcAddress(void *os, void *library, const char *name, void **function)
{
    (void)os;
    *function = dlsym(library, name);
    return *function != NULL ? GAL_OK : GAL_NOT_FOUND;
}

enum gal_status gcoOS_GetEnv(void *os, const char *name, char **value)
{
    (void)os;
    *value = getenv(name);
    return GAL_OK;
}

enum gal_status gcoOS_SetEnv(void *os, const char *name, const char *value)
{
    /* For other processes of the driver; the environment of an operator's process is unchanged. */
    (void)os;
    (void)name;
    (void)value;
    return GAL_OK;
}
