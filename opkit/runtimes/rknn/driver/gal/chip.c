/* The identity of the NPU, the storage of the process, and the time. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, strdup */
#include "gal.h"

#include <string.h>
#include <time.h>

enum {
    PRODUCT = 0x7D,
    STORAGE_SIZE = 1 << 16, /* more than the driver uses */
    /* Measured on the driver 1.7.5, with pointers of 8 and of 4 bytes. */
    MUTEX_OFFSET = sizeof(void *) == 8 ? 184 : 96
};

enum gal_status gcoHAL_QueryChipIdentityEx(void *hal, uint32_t size, uint32_t *identity)
{
    /* Model, revision, product, customer, and one more. */
    static const uint32_t IDENTITY[] = {0x8000, 0x7004, 0x45080009, PRODUCT, 0};

    (void)hal;
    memcpy(identity, IDENTITY, size < sizeof IDENTITY ? size : sizeof IDENTITY);
    return GAL_OK;
}

enum gal_status gcoHAL_GetProductName(void *hal, char **name, uint32_t *product)
{
    if (product != NULL) {
        *product = PRODUCT;
    }
    return gcoOS_StrDup(hal, "VIPNano-QI", name);
}

/* Returns the storage of the process, of unknown layout but for the mutex of contexts. */
enum gal_status gcoHAL_GetPLS(void **storage)
{
    static _Alignas(max_align_t) uint8_t bytes[STORAGE_SIZE];
    void **mutex = (void **)(bytes + MUTEX_OFFSET);

    *storage = bytes;
    return *mutex != NULL ? GAL_OK : gcoOS_CreateMutex(NULL, mutex);
}

enum gal_status gcoOS_GetTime(uint64_t *microseconds)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    *microseconds = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    return GAL_OK;
}
