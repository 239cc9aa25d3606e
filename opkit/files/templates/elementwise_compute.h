${notice}#ifndef ${upper}_COMPUTE_H
#define ${upper}_COMPUTE_H

/*
 * The math of ${name} for whole tensors: calls ${lower}_of
 * of ${lower}_scalar.h for each element of the output.
 */

#include "${include}opkit/compute/${loops}.h"
#include "${scalar}${lower}_scalar.h"

/* The elements of a block: of each tensor in a row, without gaps. */
struct ${lower}_block {
$members
};

/* Computes a block. */
$block_function
{
    const struct ${lower}_params values = *params; /* a copy, which no element overwrites */

$call
}

/* The same, by the widest vectors of the processor. */
$widest
$fp16_function
/* Computes a part of the output, block by block. */
static void ${lower}_compute_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_loop *loop = (const struct opkit_loop *)context;
$params
    struct opkit_buffer buffers[$count]; /* of the inputs, then of the output */

    opkit_clear_buffers(buffers, $count);
    while (begin < end) {
        const size_t count = opkit_block_size(loop, begin, end);
        const struct ${lower}_block block = {
$loads
        };
$compute
        opkit_store_block(loop, begin, count, &buffers[$output]);
        begin += count;
    }
}

$about
$declaration
{
    struct opkit_loop loop;
    const struct opkit_tensor *const tensors[] = {$tensors};

$checks
    if (!opkit_plan_loop(&loop, tensors, $inputs, &outputs->$output_name, params)) {
        return $mismatch;
    }
$run
    return NULL;
}

#endif
