#include "ppl/kernel/x86/common/internal_include.h"
#include "ppl/kernel/x86/${element}/${stem}.h"
#include "ppl/kernel/x86/${element}/${stem}/${stem}_common.h"

${own}

namespace ppl { namespace kernel { namespace x86 {

static bool set_tensor(
    const ppl::common::TensorShape *shape,
    const ${prefix}type type,
    const void *data,
    ${prefix}tensor *tensor)
{
    const uint32_t rank = shape->GetRealDimCount();
    if (rank > ${upper}MAX_RANK) {
        return false;
    }
    tensor->type = type;
    tensor->rank = rank > 0 ? rank : 1;
    tensor->size = 1;
    for (uint32_t i = 0; i < ${upper}MAX_RANK; ++i) {
        tensor->shape[i] = i < rank ? shape->GetDim(i) : 1;
        tensor->size *= tensor->shape[i];
    }
    tensor->data = const_cast<void *>(data);
    return true;
}

${declaration}
{
    ${lower}_inputs math_inputs;
    ${lower}_params math_params = ${lower}_params();
    ${lower}_outputs math_outputs;

${params}    if (${sets}) {
        return ppl::common::RC_UNSUPPORTED;
    }

    if (${prefix}are_empty(&math_outputs, sizeof(math_outputs))) {
        return ppl::common::RC_SUCCESS;
    }

    const char *problem = ${lower}_compute(&math_inputs, &math_params, &math_outputs);
    return problem ? ppl::common::RC_INVALID_VALUE : ppl::common::RC_SUCCESS;
}

}}}; // namespace ppl::kernel::x86
