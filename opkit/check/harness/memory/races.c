/*
 * Finds data races between the two threads of a loop, whatever their timing.
 *
 * In an instrumented operator with threads, clang calls these functions before each load and store;
 * see opkit/build/libraries.py. A race is a byte that one thread stores while the other one loads
 * or stores it in the same loop. An operator with locks or atomic operations is not compiled so.
 */
#include "guarded_memory.h"

#include <sched.h>

enum {
    WORD = 4, /* bytes of memory in a cell */
    CELL_BITS = 18,
    CELLS = 1 << CELL_BITS,
    MAX_USED = CELLS / 4 * 3,
    MAX_ACCESSES = 1 << 18 /* of each thread in an invocation: later ones are not recorded */
};

/* The threads that access a word, as bits, for each of its bytes. */
struct cell {
    uintptr_t word;
    unsigned loop; /* cells of earlier loops are free */
    uint8_t loads[WORD];
    uint8_t stores[WORD];
};

static struct cell cells[CELLS];
static unsigned used;
static unsigned loop_number;
static bool is_locked; /* atomic; the lock of all others */
static struct race race; /* the first one */
static unsigned accesses[2];
static _Thread_local unsigned self; /* 1 or 2 in a recorded loop, else 0 */

void races_begin(void)
{
    race = (struct race){0};
    accesses[0] = accesses[1] = 0;
}

void races_begin_loop(void)
{
    loop_number++;
    used = 0;
}

struct race races_take(void)
{
    const struct race found = race;

    race = (struct race){0};
    return found;
}

void races_set_thread(unsigned thread)
{
    self = thread;
}

static void lock(void)
{
    while (__atomic_test_and_set(&is_locked, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

static void unlock(void)
{
    __atomic_clear(&is_locked, __ATOMIC_RELEASE);
}

void races_forget(void)
{
    lock();
    races_begin_loop();
    unlock();
}

static struct cell *find(uintptr_t word)
{
    unsigned index = (unsigned)(((uint64_t)word / WORD * 0x9E3779B97F4A7C15U) >> (64 - CELL_BITS));

    while (cells[index].loop == loop_number && cells[index].word != word) {
        index = (index + 1) % CELLS;
    }
    if (cells[index].loop != loop_number) {
        if (used == MAX_USED) {
            return NULL;
        }
        used++;
        cells[index] = (struct cell){.word = word, .loop = loop_number};
    }
    return &cells[index];
}

/* Returns whether the other thread's accesses exclude this one. */
static bool races(uintptr_t address, size_t size, bool is_store)
{
    for (size_t i = 0; i < size; i++) {
        struct cell *cell = find((address + i) / WORD * WORD);
        if (cell == NULL) {
            return false;
        }
        const size_t byte = (address + i) % WORD;
        const unsigned others = cell->stores[byte] | (is_store ? cell->loads[byte] : 0U);
        *(is_store ? &cell->stores[byte] : &cell->loads[byte]) |= (uint8_t)self;
        if ((others & ~self) != 0) {
            return true;
        }
    }
    return false;
}

static void record(uintptr_t address, size_t size, bool is_store, const void *caller)
{
    if (accesses[self - 1] == MAX_ACCESSES) {
        return;
    }
    accesses[self - 1]++;
    lock();
    const bool is_race = race.address == NULL && races(address, size, is_store);
    if (is_race) {
        race = (struct race){(const void *)address, caller, is_store};
    }
    unlock();
}

#define ACCESS(name, bytes, is_store)                                                              \
    __attribute__((visibility("default"))) void __sanitizer_cov_##name##bytes(const void *address) \
    {                                                                                              \
        if (self != 0) {                                                                           \
            record((uintptr_t)address, bytes, is_store, __builtin_return_address(0));              \
        }                                                                                          \
    }
#define ACCESSES(bytes)        \
    ACCESS(load, bytes, false) \
    ACCESS(store, bytes, true)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
