/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include "${math}.h"
#include "ppl/nn/common/logger.h"

namespace ppl { namespace nn { namespace x86 { namespace ${space} {

/*
 * The engine has set the shapes of the outputs. Unlike the riscv engine, it does not allocate their
 * memory.
 */
ppl::common::RetCode ${title}Kernel::DoExecute(KernelExecContext *ctx)
{
    for (uint32_t i = 0; i < ctx->GetOutputCount(); i++) {
        auto *output = ctx->GetOutput<TensorImpl>(i);
        PPLNN_X86_REALLOC_TENSOR_BUFFER(output);
    }
${compute}
}

/* By default, ppl.nn silently skips a kernel with an empty input. Here, DoExecute() decides. */
bool ${title}Kernel::CanDoExecute(const KernelExecContext &) const
{
    return true;
}

}}}} // namespace ppl::nn::x86::${space}
