/*
 * Run the glue of the operator Doubled on halves, as kernels of ppl.nn do: each has its own memory.
 * Prints the allocations of each run, then whether kernels that run at the same time are right.
 */
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include <stdlib.h> /* before the macros below */

static std::atomic<int> allocations; /* so far */
static std::atomic<int> blocks; /* not freed */

static void *counted_malloc(size_t size)
{
    allocations++;
    blocks++;
    return malloc(size);
}

static void counted_free(void *memory)
{
    blocks -= memory != nullptr;
    free(memory);
}

#define malloc counted_malloc
#define free counted_free
#include "pplnn/src/ppl/nn/oputils/custom/doubled_glue.cc"
#undef malloc
#undef free

using ppl::nn::custom::DoubledMemory;

/* Returns whether the results for `size` halves from a number on are right. */
static bool run(DoubledMemory *memory, int size, int first)
{
    std::vector<uint16_t> halves(static_cast<size_t>(size)), results(halves.size());
    const opkit_pplnn_tensor input = {OPKIT_PPLNN_FLOAT16, 1, {size}, halves.data()};
    const opkit_pplnn_tensor output = {OPKIT_PPLNN_FLOAT16, 1, {size}, results.data()};

    for (size_t i = 0; i < halves.size(); i++) {
        halves[i] = opkit_float_to_half(static_cast<float>((static_cast<size_t>(first) + i) % 999));
    }
    if (ppl::nn::custom::RunDoubled(&input, doubled_params(), &output, &memory->kept) != nullptr) {
        return false;
    }
    for (size_t i = 0; i < halves.size(); i++) {
        if (opkit_half_to_float(results[i]) != 2 * opkit_half_to_float(halves[i])) {
            return false;
        }
    }
    return true;
}

static void print_runs()
{
    DoubledMemory memory;

    for (const int size : {1000, 1000, 3, 999, 2000, 1000}) {
        allocations = 0;
        const bool is_right = run(&memory, size, size);
        printf("%d: %s, %d allocations\n", size, is_right ? "right" : "wrong", allocations.load());
    }
    printf("%d blocks\n", blocks.load());
}

static void run_in_threads()
{
    std::vector<std::thread> threads;
    std::atomic<int> wrong(0);

    for (int number = 0; number < 4; number++) {
        threads.emplace_back([number, &wrong] {
            DoubledMemory memory;
            for (int i = 0; i < 500; i++) {
                wrong += !run(&memory, 1 + (i * 7 + number * 911) % 5000, number * 100);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    printf("%d wrong, %d blocks\n", wrong.load(), blocks.load());
}

int main()
{
    print_runs();
    run_in_threads();
    return 0;
}
