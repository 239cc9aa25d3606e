#ifndef ${guard}
#define ${guard}

${param_include}#include "ppl/nn/engines/x86/optimizer/opt_kernel.h"

namespace ppl { namespace nn { namespace x86 {

class ${title}Op final : public X86OptKernel {
public:
    ${title}Op(const ir::Node* node) : X86OptKernel(node) {}
    ppl::common::RetCode DoInit(const OptKernelOptions& options) override;
    KernelImpl* CreateKernelImpl() const override;
${select_format}${param_member}};

}}} // namespace ppl::nn::x86

#endif
