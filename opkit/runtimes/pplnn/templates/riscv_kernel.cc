/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include "${math}.h"

namespace ppl { namespace nn { namespace riscv { namespace ${space} {

/* The engine has reshaped the outputs and made room for them. */
ppl::common::RetCode ${title}Kernel::DoExecute(KernelExecContext *ctx)
{
    return nn::${space}::Compute${title}(ctx, ${param});
}

/* By default, a kernel with an empty input is skipped in silence. Here, DoExecute() decides. */
bool ${title}Kernel::CanDoExecute(const KernelExecContext &) const
{
    return true;
}

}}}} // namespace ppl::nn::riscv::${space}
