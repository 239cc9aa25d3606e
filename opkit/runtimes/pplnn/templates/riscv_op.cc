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

${format_doc}
${select_format}
{
${select_formats}    for (auto &format : *selected_input_formats) {
        format = ${format};
    }
    for (auto &format : *selected_output_formats) {
        format = ${format};
    }
    return RC_SUCCESS;
}

/*
 * Requests floats in the engine's precision, and all other types unchanged. If an application sets
 * no precision, it is DATATYPE_UNKNOWN, which has no conversions: then request float32.
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
