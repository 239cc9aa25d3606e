/*
 * Reserve memory in a scratch, and print what malloc and free were called for: "alloc 163, free" is
 * an allocation of 163 bytes, then a free. `fail` makes every allocation above 1000 bytes fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fails;

static void *logged_malloc(size_t size)
{
    printf(" alloc %zu", size);
    return fails && size > 1000 ? NULL : malloc(size);
}

static void logged_free(void *memory)
{
    if (memory != NULL) {
        printf(" free");
    }
    free(memory);
}

#define malloc logged_malloc
#define free logged_free
#include <opkit/compute/scratch.h>
#undef malloc
#undef free

/* Reserves, and writes to all of it. */
static void *reserve(struct opkit_scratch *scratch, size_t size)
{
    printf("%zu:", size);
    char *memory = (char *)opkit_reserve(scratch, size);
    if (memory == NULL) {
        printf(" NULL");
    } else if ((uintptr_t)memory % 64 != 0) {
        printf(" misaligned");
    } else if (memory < (char *)scratch->memory) {
        printf(" before its block");
    } else {
        memset(memory, 0xA5, size);
    }
    printf("\n");
    return memory;
}

int main(int argument_count, char **arguments)
{
    struct opkit_scratch first = {0, 0};
    struct opkit_scratch second = {0, 0};
    (void)arguments;
    fails = argument_count > 1;

    const void *empty = reserve(&first, 0);
    const void *memory = reserve(&first, 100);
    printf("same: %d\n", reserve(&first, 100) == memory && reserve(&first, 7) == memory);
    const void *other = reserve(&second, 50);
    printf("same: %d\n", reserve(&first, 100) == memory && other != memory && empty != NULL);
    reserve(&first, 5000);
    reserve(&first, SIZE_MAX);
    reserve(&first, SIZE_MAX - 10);
    reserve(&first, 200);
    reserve(&first, 200);
    printf("release:");
    opkit_release_scratch(&first);
    opkit_release_scratch(&first);
    opkit_release_scratch(&second);
    printf("\n");
    reserve(&first, 1);
    opkit_release_scratch(&first);
    printf("\n");
    return 0;
}
