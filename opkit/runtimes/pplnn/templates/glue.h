/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "${stem}_files.h"

/*
 * What is between ${lower}_compute.h
 * and ppl.nn: how the math is called with tensors in memory.
 */

namespace ppl { namespace nn { namespace ${space} {

/*
 * Sets rank and dimensions of the outputs; no data is read. Returns nullptr, or what is wrong.
 * While a dimension of an input is not known, the shape rule is not called: the rank of an output
 * that depends on it is OPKIT_PPLNN_UNKNOWN_RANK.
 */
${infer}

/* Computes the outputs, dense tensors in memory. Returns nullptr, or what is wrong. */
${run}

}}} // namespace ppl::nn::${space}

#endif
