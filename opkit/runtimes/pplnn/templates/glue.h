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
 * Infers rank and dimensions of the outputs, without data. Returns nullptr, or an error message.
 * While a dimension of an input is unknown, the shape rule is not called: outputs of that rule get
 * the rank OPKIT_PPLNN_UNKNOWN_RANK.
 */
${infer}

/* Computes the outputs, dense tensors in memory. Returns nullptr, or an error message. */
${run}

${thread_functions}}}} // namespace ppl::nn::${space}

#endif
