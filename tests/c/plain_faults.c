/* Kernels of the plain runtime, each with one fault. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "opkit/check/harness/runtime.h"

typedef int kernel_f(unsigned count, struct harness_value *values);

kernel_f nothing, resize, slow_at_first, read_past_input, write_past_output, write_before_output,
    read_past_param, leak, use_after_free, write_past_block, free_twice, free_input, change_input,
    parse_unmapped, leave_thread, leave_process;

static volatile char *memory; /* so that compilers leave each access as it is */

/* The first one in the debug information, behind the others in memory. */
__attribute__((section("other_text"))) int read_past_param(unsigned count,
                                                           struct harness_value *values)
{
    memory = values[count - 1].bytes;
    return memory[values[count - 1].size];
}

int nothing(unsigned count, struct harness_value *values)
{
    memory = malloc(count);
    memory[0] = *(char *)values[0].bytes;
    free((void *)memory);
    return 0;
}

int resize(unsigned count, struct harness_value *values)
{
    const size_t sizes[] = {values[0].size, values[0].size * count, 1};
    char *bytes = malloc(values[0].size / 2);
    bool is_kept = true;

    bytes[0] = 'a';
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bytes = realloc(bytes, sizes[i]);
        is_kept = is_kept && bytes[0] == 'a';
    }
    free(bytes);
    return is_kept ? 0 : 1;
}

int slow_at_first(unsigned count, struct harness_value *values)
{
    static bool is_warm;
    if (!is_warm) {
        sleep(count > 0 && values != NULL);
    }
    is_warm = true;
    return 0;
}

int read_past_input(unsigned count, struct harness_value *values)
{
    memory = values[0].bytes;
    return memory[values[0].size] == (char)count;
}

int write_past_output(unsigned count, struct harness_value *values)
{
    memory = values[1].bytes;
    memory[values[1].size + count] = 0;
    return 0;
}

int write_before_output(unsigned count, struct harness_value *values)
{
    memory = values[1].bytes;
    memory[-1] = (char)count;
    return 0;
}

int leak(unsigned count, struct harness_value *values)
{
    memory = malloc(values[0].size);
    memory[0] = (char)count;
    return 0;
}

int use_after_free(unsigned count, struct harness_value *values)
{
    memory = malloc(values[0].size);
    free((void *)memory);
    return memory[count];
}

int write_past_block(unsigned count, struct harness_value *values)
{
    memory = calloc(count, values[0].size);
    memory[count * values[0].size] = 0;
    return 0;
}

int free_twice(unsigned count, struct harness_value *values)
{
    memory = realloc(NULL, count * values[0].size);
    free((void *)memory);
    free((void *)memory);
    return 0;
}

int free_input(unsigned count, struct harness_value *values)
{
    (void)count;
    free(values[0].bytes);
    return 0;
}

int change_input(unsigned count, struct harness_value *values)
{
    memory = values[0].bytes;
    memory[0] = (char)~count;
    return 0;
}

/* The linker discards it: debug information has its lines at address 0. */
__attribute__((visibility("hidden"))) int discarded(int number);

int discarded(int number)
{
    return number + 1;
}

/* The fault is in libc. */
int parse_unmapped(unsigned count, struct harness_value *values)
{
    (void)values;
    memory = (char *)0x12340;
    return strtol((const char *)memory, NULL, (int)count) != 1;
}

static void *wait_for_end(void *memory_of_thread)
{
    pause();
    return memory_of_thread;
}

int leave_thread(unsigned count, struct harness_value *values)
{
    pthread_t own;
    (void)count;
    return pthread_create(&own, NULL, wait_for_end, values);
}

int leave_process(unsigned count, struct harness_value *values)
{
    (void)count;
    if (fork() == 0) {
        wait_for_end(values);
    }
    return 0;
}
