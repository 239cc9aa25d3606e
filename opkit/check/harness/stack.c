/* The kernel's stack: as large as that of a thread on the board, and how much of it is used. */
#include "harness.h"

#include <inttypes.h>
#include <sys/resource.h>

enum {
    PAINTED = 1 << 16, /* bytes for local variables, before each stage */
    MARGIN = 1 << 13 /* bytes at the end of a limited stack, for the functions that paint it */
};

static uintptr_t end; /* of the process's stack */
static size_t size; /* from the frame that limits it; 0: not limited */
static uintptr_t lowest; /* the first byte to be painted */
static bool is_painted;

void find_stack(void)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    FILE *maps = end == 0 ? fopen("/proc/self/maps", "r") : NULL;
    char line[512];

    while (maps != NULL && end == 0 && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t first;
        uintptr_t last;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &last) == 2 && first <= frame &&
            frame < last) {
            end = last;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

void limit_stack(size_t limited)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct rlimit limit;

    /* The system reads the limit when the stack grows, by whole pages: at most to the limit. */
    if (limited > 0 && end > frame && getrlimit(RLIMIT_STACK, &limit) == 0) {
        limit.rlim_cur = end - frame + limited;
        size = setrlimit(RLIMIT_STACK, &limit) == 0 ? limited : 0;
        lowest = (frame - limited + MARGIN) / sizeof(uint64_t) * sizeof(uint64_t);
    }
}

size_t stack_limit(void)
{
    return size;
}

static __attribute__((noinline)) void paint(uint8_t fill, size_t count)
{
    uint8_t *bytes = __builtin_alloca(count);
    memset(bytes, fill, count);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

void paint_stack(uint8_t fill, bool is_measured)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

    if (size > 0 && is_measured && !is_painted) {
        is_painted = true;
        paint(fill, frame - lowest);
    } else {
        paint(fill, PAINTED);
    }
}

size_t used_stack(uint8_t fill)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    const volatile uint64_t *unused = (const volatile uint64_t *)lowest;

    while (is_painted && (uintptr_t)unused < frame && *unused == UINT64_MAX / UINT8_MAX * fill) {
        unused++;
    }
    return is_painted ? frame - (uintptr_t)unused : 0;
}
