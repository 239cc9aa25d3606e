#include "ppl/nn/engines/x86/optimizer/ops/${space}/${stem}_op.h"
#include "ppl/nn/engines/x86/kernels/${space}/${stem}_kernel.h"
${reshape_include}#include "ppl/nn/common/logger.h"
using namespace std;
using namespace ppl::common;

namespace ppl { namespace nn { namespace x86 {

RetCode ${title}Op::DoInit(const OptKernelOptions& options) {
${load}${infer_dims}
${infer_type}
    return RC_SUCCESS;
}

${select_format}KernelImpl* ${title}Op::CreateKernelImpl() const {
    return ${create};
}

}}} // namespace ppl::nn::x86
