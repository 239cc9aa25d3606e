/* Threads, mutexes, signals, and the storage of threads. */
#define _GNU_SOURCE /* recursive mutexes, syscall */
#include "gal.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STORAGE_SIZE = 1 << 16 /* more than the driver uses; the layout is unknown */
};

#define FOREVER 0xFFFFFFFFU /* milliseconds */

struct signal {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_manual; /* stays set after a wait */
    bool is_set;
};

enum gal_status gcoOS_CreateMutex(void *os, void **mutex)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t *new_mutex = calloc(1, sizeof *new_mutex);

    (void)os;
    if (new_mutex == NULL) {
        return GAL_NO_MEMORY;
    }
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(new_mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    *mutex = new_mutex;
    return GAL_OK;
}

enum gal_status gcoOS_DeleteMutex(void *os, void *mutex)
{
    (void)os;
    if (mutex != NULL) {
        pthread_mutex_destroy(mutex);
        free(mutex);
    }
    return GAL_OK;
}

enum gal_status gcoOS_AcquireMutex(void *os, void *mutex, uint32_t milliseconds)
{
    (void)os;
    if (mutex == NULL) {
        return GAL_OK;
    }
    if (milliseconds == 0) {
        return pthread_mutex_trylock(mutex) == 0 ? GAL_OK : GAL_TIMEOUT;
    }
    return pthread_mutex_lock(mutex) == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_ReleaseMutex(void *os, void *mutex)
{
    (void)os;
    return mutex == NULL || pthread_mutex_unlock(mutex) == 0 ? GAL_OK : GAL_INVALID;
}

enum gal_status gcoOS_CreateSignal(void *os, int is_manual, void **signal)
{
    struct signal *new_signal = calloc(1, sizeof *new_signal);

    (void)os;
    if (new_signal == NULL) {
        return GAL_NO_MEMORY;
    }
    pthread_mutex_init(&new_signal->mutex, NULL);
    pthread_cond_init(&new_signal->changed, NULL);
    new_signal->is_manual = is_manual != 0;
    *signal = new_signal;
    return GAL_OK;
}

enum gal_status gcoOS_DestroySignal(void *os, void *signal)
{
    struct signal *old_signal = signal;

    (void)os;
    if (old_signal != NULL) {
        pthread_cond_destroy(&old_signal->changed);
        pthread_mutex_destroy(&old_signal->mutex);
        free(old_signal);
    }
    return GAL_OK;
}

enum gal_status gcoOS_Signal(void *os, void *signal, int is_set)
{
    struct signal *changed = signal;

    (void)os;
    pthread_mutex_lock(&changed->mutex);
    changed->is_set = is_set != 0;
    pthread_cond_broadcast(&changed->changed);
    pthread_mutex_unlock(&changed->mutex);
    return GAL_OK;
}

static struct timespec deadline(uint32_t milliseconds)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time); /* the clock of pthread_cond_timedwait */
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

enum gal_status gcoOS_WaitSignal(void *os, void *signal, uint32_t milliseconds)
{
    struct signal *awaited = signal;
    const struct timespec end = deadline(milliseconds == FOREVER ? 0 : milliseconds);
    int error = 0;

    (void)os;
    pthread_mutex_lock(&awaited->mutex);
    while (!awaited->is_set && error == 0) {
        error = milliseconds == FOREVER
                    ? pthread_cond_wait(&awaited->changed, &awaited->mutex)
                    : pthread_cond_timedwait(&awaited->changed, &awaited->mutex, &end);
    }
    const bool was_set = awaited->is_set;
    awaited->is_set = was_set && awaited->is_manual;
    pthread_mutex_unlock(&awaited->mutex);
    return was_set ? GAL_OK : GAL_TIMEOUT;
}

enum gal_status gcoOS_CreateThread(void *os, void *(*function)(void *), void *argument,
                                   void **thread)
{
    pthread_t *new_thread = calloc(1, sizeof *new_thread);

    (void)os;
    if (new_thread == NULL || pthread_create(new_thread, NULL, function, argument) != 0) {
        free(new_thread);
        return GAL_INVALID;
    }
    *thread = new_thread;
    return GAL_OK;
}

enum gal_status gcoOS_CloseThread(void *os, void *thread)
{
    pthread_t *old_thread = thread;

    (void)os;
    if (old_thread != NULL) {
        pthread_join(*old_thread, NULL);
        free(old_thread);
    }
    return GAL_OK;
}

enum gal_status gcoOS_Delay(void *os, uint32_t milliseconds)
{
    const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

    (void)os;
    nanosleep(&time, NULL);
    return GAL_OK;
}

enum gal_status gcoOS_GetTLS(void **storage)
{
    static _Thread_local _Alignas(max_align_t) uint8_t bytes[STORAGE_SIZE];

    *storage = bytes;
    return GAL_OK;
}

void *gcoOS_GetCurrentProcessID(void)
{
    return (void *)(intptr_t)getpid();
}

void *gcoOS_GetCurrentThreadID(void)
{
    return (void *)(intptr_t)syscall(SYS_gettid);
}
