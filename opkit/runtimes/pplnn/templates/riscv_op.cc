/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include "${kernel}.h"
#include "${math}.h"
#include "ppl/nn/runtime/tensor_impl.h"

using namespace ppl::common;

namespace ppl { namespace nn { namespace riscv { namespace ${space} {

RetCode ${title}Op::Init(const OptKernelOptions &options)
{
${init}
}

/* The math takes dense tensors. Without this, the op would get whatever format arrives. */
${select_format}
{
    for (auto &format : *selected_input_formats) {
        format = DATAFORMAT_NDARRAY;
    }
    for (auto &format : *selected_output_formats) {
        format = DATAFORMAT_NDARRAY;
    }
    return RC_SUCCESS;
}

/*
 * Floats arrive in the precision that the engine computes with, everything else as it is.
 * Applications that do not set a precision leave it DATATYPE_UNKNOWN, to which nothing can be
 * converted.
 */
${select_types}
{
    const datatype_t precision =
        forward_precision == DATATYPE_FLOAT16 ? DATATYPE_FLOAT16 : DATATYPE_FLOAT32;

    for (uint32_t i = 0; i < selected_input_types->size(); i++) {
        const auto *input = info.GetInput<TensorImpl>(i);
        if (input != nullptr) {
            const datatype_t type = input->GetShape()->GetDataType();
            const bool is_float = type == DATATYPE_FLOAT32 || type == DATATYPE_FLOAT16;
            selected_input_types->at(i) = is_float ? precision : type;
        }
    }
    for (uint32_t i = 0; i < selected_output_types->size(); i++) {
${output_type}
    }
    return RC_SUCCESS;
}

KernelImpl *${title}Op::CreateKernelImpl() const
{
    return ${create};
}

}}}} // namespace ppl::nn::riscv::${space}
