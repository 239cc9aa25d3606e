/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include "${math}.h"

namespace ppl { namespace nn { namespace riscv { namespace ${space} {

/* The engine has set the shapes of the outputs and allocated their memory. */
ppl::common::RetCode ${title}Kernel::DoExecute(KernelExecContext *ctx)
{
${compute}
}

/* By default, ppl.nn silently skips a kernel with an empty input. Here, DoExecute() decides. */
bool ${title}Kernel::CanDoExecute(const KernelExecContext &) const
{
    return true;
}

}}}} // namespace ppl::nn::riscv::${space}
