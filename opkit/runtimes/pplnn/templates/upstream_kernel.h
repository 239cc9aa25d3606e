#ifndef ${guard}
#define ${guard}

#include "ppl/nn/engines/x86/kernel.h"
${param_include}
namespace ppl { namespace nn { namespace x86 {

class ${title}Kernel : public X86Kernel {
public:
    ${title}Kernel(const ir::Node* node) : X86Kernel(node) {}
${set_param}
private:
    ppl::common::RetCode DoExecute(KernelExecContext*) override;
${param_member}};

}}} // namespace ppl::nn::x86

#endif
