/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "ppl/nn/engines/riscv/kernel.h"
#include "${glue}.h"
${param_include}
namespace ppl { namespace nn { namespace riscv { namespace ${space} {

/* Runs a ${name} node. Each node of a running model has an object. */
class ${title}Kernel final : public RiscvKernel {
public:
    explicit ${title}Kernel(const ir::Node *node) : RiscvKernel(node)
    {${retain}
    }
${destructor}${set_param}
private:
    ppl::common::RetCode DoExecute(KernelExecContext *ctx) override;
    bool CanDoExecute(const KernelExecContext &ctx) const override;

${param_member}    nn::${space}::${title}Memory memory_;
};

}}}} // namespace ppl::nn::riscv::${space}

#endif
