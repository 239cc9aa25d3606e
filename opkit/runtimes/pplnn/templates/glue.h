/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "${stem}_files.h"

/*
 * Calls ${lower}_compute.h
 * with ppl.nn's tensors in memory. Independent of ppl.nn's headers.
 */

namespace ppl { namespace nn { namespace ${space} {

/*
 * Memory that a kernel keeps between its runs, for halves.
 * Kernels of several runtimes have their own, so they can run at the same time.
 */
struct ${title}Memory {
    ${title}Memory() : tensors(), kept()
    {
        kept.tensors = tensors;
    }
    ~${title}Memory();
    ${title}Memory(const ${title}Memory &) = delete;
$assignment

    opkit_scratch tensors[${count}];
    opkit_pplnn_memory kept;
};

/*
 * Infers rank and dimensions of the outputs, without data. Returns nullptr, or an error message.
 * While a dimension of an input is unknown, the shape rule is not called: outputs of that rule get
 * the rank OPKIT_PPLNN_UNKNOWN_RANK.
 */
${infer}

/*
 * Computes the outputs, dense tensors in memory. Returns nullptr, or an error message.
 */
${run}

${thread_functions}}}} // namespace ppl::nn::${space}

#endif
