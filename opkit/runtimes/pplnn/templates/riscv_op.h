/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "ppl/nn/engines/riscv/optimizer/opt_kernel.h"
${param_include}
namespace ppl { namespace nn { namespace riscv { namespace ${space} {

/* Describes a ${name} node to the optimizer, before the model runs. */
class ${title}Op final : public RiscvOptKernel {
public:
    explicit ${title}Op(const ir::Node *node) : RiscvOptKernel(node)
    {
    }

    KernelImpl *CreateKernelImpl() const override;
    ppl::common::RetCode Init(const OptKernelOptions &options) override;
    ppl::common::RetCode
    SelectFormat(const InputOutputInfo &info,
                 std::vector<ppl::common::dataformat_t> *selected_input_formats,
                 std::vector<ppl::common::dataformat_t> *selected_output_formats) override;
    ppl::common::RetCode
    SelectDataType(const InputOutputInfo &info, ppl::common::datatype_t forward_precision,
                   std::vector<ppl::common::datatype_t> *selected_input_types,
                   std::vector<ppl::common::datatype_t> *selected_output_types) override;
${param_member}};

}}}} // namespace ppl::nn::riscv::${space}

#endif
