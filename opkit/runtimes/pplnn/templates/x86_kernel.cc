/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include "${math}.h"
#include "ppl/nn/common/logger.h"

namespace ppl { namespace nn { namespace x86 { namespace ${space} {

/*
 * The engine has reshaped the outputs. Unlike the riscv engine, it leaves it to kernels to make
 * room for them.
 */
ppl::common::RetCode ${title}Kernel::DoExecute(KernelExecContext *ctx)
{
    for (uint32_t i = 0; i < ctx->GetOutputCount(); i++) {
        auto *output = ctx->GetOutput<TensorImpl>(i);
        PPLNN_X86_REALLOC_TENSOR_BUFFER(output);
    }
    return nn::${space}::Compute${title}(ctx, ${param});
}

/* By default, a kernel with an empty input is skipped in silence. Here, DoExecute() decides. */
bool ${title}Kernel::CanDoExecute(const KernelExecContext &) const
{
    return true;
}

}}}} // namespace ppl::nn::x86::${space}
