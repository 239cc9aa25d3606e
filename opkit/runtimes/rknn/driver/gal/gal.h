/*
 * A stand-in for libGAL.so, the NPU's hardware layer, below the vendor's OpenVX driver on a PC.
 *
 *     memory.c   memory of the NPU and of the driver
 *     threads.c  threads, mutexes, signals, storage of threads
 *     files.c    files, libraries, environment
 *     text.c     strings
 *     chip.c     the identity of the NPU, and time
 *     devices.c  hides the devices of the PC from librknn_runtime
 *
 * Names and arguments are as libOpenVX 1.2 (driver 1.7.5) calls them. All other names of libGAL.so
 * are stubs, which return 0. So the CPU kernels of a graph run, and a job of the NPU seems to
 * succeed without a result. No device is opened.
 */
#ifndef OPKIT_RKNN_GAL_H
#define OPKIT_RKNN_GAL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* The driver is compiled with all its names visible. */
#pragma GCC visibility push(default)

enum gal_status {
    GAL_OK = 0,
    GAL_INVALID = -1,
    GAL_NO_MEMORY = -3,
    GAL_TIMEOUT = -15,
    GAL_NOT_FOUND = 5,
    GAL_GREATER = 9, /* of a comparison */
    GAL_SMALLER = 10,
    GAL_TRUE = 1
};

/* ---- memory.c ---- */

enum gal_status gcoVX_AllocateMemory(uint32_t size, void **logical, uint32_t *physical,
                                     void **node);
enum gal_status gcoVX_AllocateMemoryEx(const uint32_t *size, uint32_t type, uint32_t pool,
                                       uint32_t alignment, uint32_t *physical, void **logical,
                                       void **node);
enum gal_status gcoVX_AllocateMemoryExAddAllocflag(const uint32_t *size, uint32_t type,
                                                   uint32_t alignment, uint32_t flag,
                                                   uint32_t *physical, void **logical,
                                                   uint32_t *cpu_address, void **node);
enum gal_status gcoVX_FreeMemory(void *node);
enum gal_status gcoVX_FreeMemoryEx(void *node, uint32_t type);
enum gal_status gcoOS_Allocate(void *os, size_t size, void **memory);
enum gal_status gcoOS_Free(void *os, void *memory);
enum gal_status gcoOS_AllocateMemory(void *os, size_t size, void **memory);
enum gal_status gcoOS_FreeMemory(void *os, void *memory);

/* ---- threads.c ---- */

enum gal_status gcoOS_CreateMutex(void *os, void **mutex); /* recursive */
enum gal_status gcoOS_DeleteMutex(void *os, void *mutex);
enum gal_status gcoOS_AcquireMutex(void *os, void *mutex, uint32_t milliseconds);
enum gal_status gcoOS_ReleaseMutex(void *os, void *mutex);
enum gal_status gcoOS_CreateSignal(void *os, int is_manual, void **signal);
enum gal_status gcoOS_DestroySignal(void *os, void *signal);
enum gal_status gcoOS_Signal(void *os, void *signal, int is_set);
enum gal_status gcoOS_WaitSignal(void *os, void *signal, uint32_t milliseconds);
enum gal_status gcoOS_CreateThread(void *os, void *(*function)(void *), void *argument,
                                   void **thread);
enum gal_status gcoOS_CloseThread(void *os, void *thread); /* waits for its end */
enum gal_status gcoOS_Delay(void *os, uint32_t milliseconds);
enum gal_status gcoOS_GetTLS(void **storage);
void *gcoOS_GetCurrentProcessID(void);
void *gcoOS_GetCurrentThreadID(void);

/* ---- files.c ---- */

enum gal_status gcoOS_Open(void *os, const char *name, int mode, void **file);
enum gal_status gcoOS_Close(void *os, void *file);
enum gal_status gcoOS_Read(void *os, void *file, size_t size, void *bytes, size_t *count);
enum gal_status gcoOS_Write(void *os, void *file, size_t size, const void *bytes);
enum gal_status gcoOS_Flush(void *os, void *file);
enum gal_status gcoOS_Seek(void *os, void *file, uint32_t offset, int from);
enum gal_status gcoOS_SetPos(void *os, void *file, uint32_t position);
enum gal_status gcoOS_GetPos(void *os, void *file, uint32_t *position);
enum gal_status gcoOS_Stat(void *os, const char *name, void *attributes);
enum gal_status gcoOS_Remove(void *os, const char *name);
enum gal_status gcoOS_LoadLibrary(void *os, const char *name, void **library);
enum gal_status gcoOS_FreeLibrary(void *os, void *library);
enum gal_status gcoOS_GetProcAddress(void *os, void *library, const char *name, void **function);
enum gal_status gcoOS_GetEnv(void *os, const char *name, char **value);
enum gal_status gcoOS_SetEnv(void *os, const char *name, const char *value);

/* ---- text.c ---- */

__attribute__((format(printf, 1, 2))) void gcoOS_Print(const char *format, ...);
__attribute__((format(printf, 4, 5))) enum gal_status
gcoOS_PrintStrSafe(char *text, size_t size, uint32_t *length, const char *format, ...);
enum gal_status gcoOS_PrintStrVSafe(char *text, size_t size, uint32_t *length, const char *format,
                                    va_list arguments);
enum gal_status gcoOS_StrCatSafe(char *text, size_t size, const char *added);
enum gal_status gcoOS_StrCopySafe(char *text, size_t size, const char *source);
enum gal_status gcoOS_StrCmp(const char *left, const char *right);
enum gal_status gcoOS_StrNCmp(const char *left, const char *right, size_t size);
enum gal_status gcoOS_MemCmp(const void *left, const void *right, size_t size);
enum gal_status gcoOS_StrDup(void *os, const char *text, char **copy);
enum gal_status gcoOS_StrStr(char *text, const char *part, char **found);
enum gal_status gcoOS_StrFindReverse(char *text, int8_t character, char **found);
enum gal_status gcoOS_StrToInt(const char *text, int *value);

/* ---- chip.c ---- */

enum gal_status gcoHAL_QueryChipIdentityEx(void *hal, uint32_t size, uint32_t *identity);
enum gal_status gcoHAL_GetProductName(void *hal, char **name, uint32_t *product);
enum gal_status gcoHAL_GetPLS(void **storage);
enum gal_status gcoOS_GetTime(uint64_t *microseconds);

#pragma GCC visibility pop

#endif
