#include "ppl/nn/engines/x86/kernels/${space}/${stem}_kernel.h"
#include "ppl/kernel/x86/${element}/${stem}.h"

namespace ppl { namespace nn { namespace x86 {

ppl::common::RetCode ${title}Kernel::DoExecute(KernelExecContext* ctx) {
${tensors}

    PPLNN_X86_DEBUG_TRACE("Op: %s\n", GetName().c_str());
${inputs}${params}    PPLNN_X86_DEBUG_TRACE("isa: %u\n", GetISA());

${outputs}
${checks}
${call}
}

}}} // namespace ppl::nn::x86
