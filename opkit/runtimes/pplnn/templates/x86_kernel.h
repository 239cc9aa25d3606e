/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "ppl/nn/engines/x86/kernel.h"
#include "${glue}.h"
${param_include}
namespace ppl { namespace nn { namespace x86 { namespace ${space} {

/* Runs a ${name} node. Each node of a running model has an object. */
class ${title}Kernel final : public X86Kernel {
public:
    explicit ${title}Kernel(const ir::Node *node) : X86Kernel(node)
    {${retain}
    }
${destructor}${set_param}
private:
    ppl::common::RetCode DoExecute(KernelExecContext *ctx) override;
    bool CanDoExecute(const KernelExecContext &ctx) const override;

${param_member}    nn::${space}::${title}Memory memory_;
};

}}}} // namespace ppl::nn::x86::${space}

#endif
