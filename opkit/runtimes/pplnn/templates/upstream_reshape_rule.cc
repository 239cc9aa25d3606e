#include "ppl/nn/oputils/${space}/reshape_${stem}.h"
#include "ppl/nn/oputils/${space}/${stem}_shapes.h"
${param_include}#include "ppl/nn/runtime/kernel_exec_context.h"
#include "ppl/nn/runtime/tensor_impl.h"
#include "ppl/nn/common/logger.h"
using namespace ppl::common;

namespace ppl { namespace nn { namespace ${space} {

static ${prefix}type ElementType(datatype_t type) {
    switch (type) {
        case DATATYPE_INT8:
            return ${upper}INT8;
        case DATATYPE_BOOL:
        case DATATYPE_UINT8:
            return ${upper}UINT8;
        case DATATYPE_INT16:
            return ${upper}INT16;
        case DATATYPE_UINT16:
            return ${upper}UINT16;
        case DATATYPE_INT32:
            return ${upper}INT32;
        case DATATYPE_UINT32:
            return ${upper}UINT32;
        case DATATYPE_INT64:
            return ${upper}INT64;
        default:
            return ${upper}FLOAT32;
    }
}

// A dimension is unknown while a model is loaded: it is negative, or 0 where another op derived it.
static bool IsKnown(const TensorShape& shape, bool is_running) {
    for (uint32_t i = 0; i < shape.GetRealDimCount(); ++i) {
        if (shape.GetDim(i) < (is_running ? 0 : 1)) {
            return false;
        }
    }
    return true;
}

static RetCode Load(const TensorShape& shape, ${prefix}tensor* tensor) {
    const uint32_t rank = shape.GetRealDimCount();
    if (rank > ${upper}MAX_RANK) {
        LOG(ERROR) << "unsupported dim count[" << rank << "].";
        return RC_UNSUPPORTED;
    }
    tensor->type = ElementType(shape.GetDataType());
    tensor->rank = rank > 0 ? rank : 1;
    tensor->size = 1;
    for (uint32_t i = 0; i < ${upper}MAX_RANK; ++i) {
        tensor->shape[i] = i < rank ? shape.GetDim(i) : 1;
        tensor->size *= tensor->shape[i];
    }
    tensor->data = nullptr;
    return RC_SUCCESS;
}

static RetCode Store(const ${prefix}tensor& tensor, TensorShape* shape) {
    if (tensor.rank < 1 || tensor.rank > ${upper}MAX_RANK) {
        LOG(ERROR) << "invalid dim count[" << tensor.rank << "].";
        return RC_INVALID_VALUE;
    }
    const std::vector<int64_t> dims(tensor.shape, tensor.shape + tensor.rank);
    shape->Reshape(dims.data(), dims.size());
    return RC_SUCCESS;
}

${reshape}
    if (info->GetInputCount() != ${input_count} || info->GetOutputCount() != ${output_count}) {
        return RC_INVALID_VALUE;
    }

${copies}    const bool is_running = dynamic_cast<KernelExecContext*>(info) != nullptr;
    for (uint32_t i = 0; i < info->GetInputCount(); ++i) {
        if (!IsKnown(*info->GetInput<TensorImpl>(i)->GetShape(), is_running)) {
            return RC_SUCCESS;
        }
    }

    ${lower}_inputs inputs;
    ${lower}_params params = ${lower}_params();
    ${lower}_outputs outputs = ${lower}_outputs();
    RetCode status;
${loads}${params}
    const char* problem = ${lower}_shapes(&inputs, &params, &outputs);
    if (problem) {
        LOG(ERROR) << problem;
        return RC_INVALID_VALUE;
    }
${stores}
    return RC_SUCCESS;
}

}}} // namespace ppl::nn::${space}
