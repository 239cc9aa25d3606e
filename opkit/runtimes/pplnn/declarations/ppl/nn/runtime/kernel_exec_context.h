#ifndef PPL_NN_RUNTIME_KERNEL_EXEC_CONTEXT_H
#define PPL_NN_RUNTIME_KERNEL_EXEC_CONTEXT_H

#include "ppl/nn/common/input_output_info.h"

namespace ppl { namespace nn {

/* The tensors of a node of a running model. During loading, ppl.nn passes the base class. */
class KernelExecContext final : public InputOutputInfo {};

}} // namespace ppl::nn

#endif
