/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "ppl/nn/engines/x86/optimizer/opt_kernel.h"
${param_include}
namespace ppl { namespace nn { namespace x86 { namespace ${space} {

/* Describes a ${name} node to the optimizer, before the model runs. */
class ${title}Op final : public X86OptKernel {
public:
    explicit ${title}Op(const ir::Node *node) : X86OptKernel(node)
    {
    }

    KernelImpl *CreateKernelImpl() const override;
    ppl::common::RetCode
    SelectFormat(const InputOutputInfo &info,
                 std::vector<ppl::common::dataformat_t> *selected_input_formats,
                 std::vector<ppl::common::dataformat_t> *selected_output_formats) override;

protected:
    ppl::common::RetCode DoInit(const OptKernelOptions &options) override;
${param_member}};

}}}} // namespace ppl::nn::x86::${space}

#endif
