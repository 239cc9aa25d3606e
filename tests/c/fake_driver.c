/*
 * Calls the hardware layer as the boards' libOpenVX does, when it is loaded, and ends the process
 * at the first answer that differs from the driver's expectation. With the host runtime it makes a
 * libOpenVX.so in place of the vendor's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opkit/runtimes/rknn/driver/gal/gal.h"

/* Only in the vendor's library, where it returns 7. */
long gcoHAL_NotInTheStandIn(void);

#define EXPECT(condition)                                                           \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(70);                                                              \
        }                                                                           \
    } while (0)

static void expect_memory(void)
{
    const uint32_t size = 100;
    void *bytes = NULL;
    void *others = NULL;
    void *node = NULL;
    void *other_node = NULL;
    uint32_t address = 0;
    uint32_t other_address = 0;
    uint32_t cpu_address = 1;

    EXPECT(gcoVX_AllocateMemory(size, &bytes, &address, &node) == GAL_OK);
    EXPECT((uintptr_t)bytes % 64 == 0 && ((char *)bytes)[size - 1] == 0 && address != 0);
    EXPECT(gcoVX_AllocateMemoryExAddAllocflag(&size, 0, 64, 0, &other_address, &others,
                                              &cpu_address, &other_node) == GAL_OK);
    EXPECT(others != bytes && other_address > address && cpu_address == 0);
    memset(node, 0xFF, 1000); /* the driver writes into nodes */
    EXPECT(gcoVX_FreeMemoryEx(node, 2) == GAL_OK && gcoVX_FreeMemory(other_node) == GAL_OK);
    EXPECT(gcoOS_Allocate(NULL, 0, &bytes) == GAL_OK && bytes != NULL);
    EXPECT(gcoOS_Free(NULL, bytes) == GAL_OK);
}

static void *set_signal(void *signal)
{
    void *storage = NULL;

    EXPECT(gcoOS_GetTLS(&storage) == GAL_OK && *(char *)storage == 0); /* not the first thread's */
    EXPECT(gcoOS_Signal(NULL, signal, 1) == GAL_OK);
    return NULL;
}

static void *try_mutex(void *mutex)
{
    EXPECT(gcoOS_AcquireMutex(NULL, mutex, 0) == GAL_TIMEOUT); /* another thread has it */
    return NULL;
}

/* A thread cannot be created without memory for its stack. */
static void expect_no_thread(void)
{
    void *thread = NULL;
    pthread_attr_t usual;
    pthread_attr_t large;

    EXPECT(pthread_getattr_default_np(&usual) == 0 && pthread_getattr_default_np(&large) == 0);
    EXPECT(pthread_attr_setstacksize(&large, SIZE_MAX / 16 * 15 / 65536 * 65536) == 0);
    EXPECT(pthread_setattr_default_np(&large) == 0);
    EXPECT(gcoOS_CreateThread(NULL, set_signal, NULL, &thread) == GAL_INVALID && thread == NULL);
    EXPECT(pthread_setattr_default_np(&usual) == 0);
}

static void expect_threads(void)
{
    void *mutex = NULL;
    void *signal = NULL;
    void *thread = NULL;
    void *storage = NULL;

    EXPECT(gcoOS_CreateMutex(NULL, &mutex) == GAL_OK);
    EXPECT(gcoOS_AcquireMutex(NULL, mutex, 0xFFFFFFFF) == GAL_OK);
    EXPECT(gcoOS_AcquireMutex(NULL, mutex, 0) == GAL_OK); /* by the same thread */
    EXPECT(gcoOS_CreateThread(NULL, try_mutex, mutex, &thread) == GAL_OK);
    EXPECT(gcoOS_CloseThread(NULL, thread) == GAL_OK);
    expect_no_thread();
    EXPECT(gcoOS_ReleaseMutex(NULL, mutex) == GAL_OK && gcoOS_ReleaseMutex(NULL, mutex) == GAL_OK);
    EXPECT(gcoOS_DeleteMutex(NULL, mutex) == GAL_OK);

    EXPECT(gcoOS_GetTLS(&storage) == GAL_OK);
    *(char *)storage = 1;
    EXPECT(gcoOS_CreateSignal(NULL, 0, &signal) == GAL_OK);
    EXPECT(gcoOS_WaitSignal(NULL, signal, 1) == GAL_TIMEOUT);
    EXPECT(gcoOS_CreateThread(NULL, set_signal, signal, &thread) == GAL_OK);
    EXPECT(gcoOS_WaitSignal(NULL, signal, 0xFFFFFFFF) == GAL_OK);
    EXPECT(gcoOS_WaitSignal(NULL, signal, 0) == GAL_TIMEOUT); /* the wait has reset it */
    EXPECT(gcoOS_CloseThread(NULL, thread) == GAL_OK);
    EXPECT(gcoOS_DestroySignal(NULL, signal) == GAL_OK);
}

static void expect_text(void)
{
    char text[16] = "";
    uint32_t length = 0;
    char *found = NULL;

    EXPECT(gcoOS_PrintStrSafe(text, sizeof text, &length, "%d", 12) == GAL_OK);
    EXPECT(gcoOS_PrintStrSafe(text, sizeof text, &length, "%s", "ab") == GAL_OK);
    EXPECT(strcmp(text, "12ab") == 0 && length == 4);
    EXPECT(gcoOS_StrCatSafe(text, 6, "cdef") == GAL_OK && strcmp(text, "12abc") == 0);
    EXPECT(gcoOS_StrCmp("a", "a") == 0 && gcoOS_StrCmp("b", "a") == 9);
    EXPECT(gcoOS_StrCmp("a", "b") == 10);
    EXPECT(gcoOS_StrStr(text, "ab", &found) == GAL_TRUE && found == text + 2);
    EXPECT(gcoOS_StrStr(text, "x", NULL) == GAL_OK);
}

static void expect_files(void)
{
    void *library = NULL;
    void *address = NULL;
    void *file = NULL;
    char *value = NULL;

    EXPECT(gcoOS_LoadLibrary(NULL, "libm.so.6", &library) == GAL_OK);
    EXPECT(gcoOS_GetProcAddress(NULL, library, "cosf", &address) == GAL_OK && address != NULL);
    EXPECT(gcoOS_GetProcAddress(NULL, library, "no_such_name", &address) == GAL_NOT_FOUND);
    EXPECT(gcoOS_FreeLibrary(NULL, library) == GAL_OK);
    EXPECT(gcoOS_SetEnv(NULL, "OPKIT_TEST", "1") == GAL_OK); /* and the process keeps its own */
    EXPECT(gcoOS_GetEnv(NULL, "OPKIT_TEST", &value) == GAL_OK && value == NULL);

    /* No device of this PC is opened, but for those without hardware. */
    EXPECT(gcoOS_Open(NULL, "/dev/full", 4, &file) != GAL_OK);
    EXPECT(open("/dev/full", O_RDWR) == -1 && errno == ENOENT);
    EXPECT(close(open("/dev/null", O_RDONLY)) == 0);
}

__attribute__((constructor)) static void expect_hardware_layer(void)
{
    uint32_t identity[5] = {0};

    EXPECT(gcoHAL_QueryChipIdentityEx(NULL, sizeof identity, identity) == GAL_OK);
    EXPECT(identity[0] == 0x8000 && identity[1] == 0x7004 && identity[3] == 0x7D);
    EXPECT(gcoHAL_NotInTheStandIn() == 0);
    expect_memory();
    expect_threads();
    expect_text();
    expect_files();
}
