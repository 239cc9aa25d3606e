#include "ppl/nn/oputils/${space}/reshape_${stem}.h"
#include "ppl/nn/runtime/tensor_impl.h"
using namespace ppl::common;

namespace ppl { namespace nn { namespace ${space} {

${reshape}
    if (info->GetInputCount() != ${input_count} || info->GetOutputCount() != ${output_count}) {
        return RC_INVALID_VALUE;
    }

${copies}
    return RC_SUCCESS;
}

}}} // namespace ppl::nn::${space}
