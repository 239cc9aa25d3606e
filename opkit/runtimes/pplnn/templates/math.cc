/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include "ppl/nn/common/logger.h"
${param_include}#include "ppl/nn/runtime/kernel_exec_context.h"
#include "ppl/nn/runtime/tensor_impl.h"
#include "${glue}.h"

using ppl::common::datatype_t;
using ppl::common::RC_INVALID_VALUE;
using ppl::common::RC_NOT_FOUND;
using ppl::common::RC_SUCCESS;
using ppl::common::RC_UNSUPPORTED;
using ppl::common::RetCode;

namespace ppl { namespace nn { namespace ${space} {

namespace {

constexpr bool AreSame(uint32_t glue_type, datatype_t ppl_type)
{
    return glue_type == ppl_type;
}

/* The glue defines data types itself, because it does not include ppl.nn's headers. */
static_assert(AreSame(OPKIT_PPLNN_UINT8, ppl::common::DATATYPE_UINT8) &&
                  AreSame(OPKIT_PPLNN_FLOAT16, ppl::common::DATATYPE_FLOAT16) &&
                  AreSame(OPKIT_PPLNN_FLOAT32, ppl::common::DATATYPE_FLOAT32) &&
                  AreSame(OPKIT_PPLNN_INT8, ppl::common::DATATYPE_INT8) &&
                  AreSame(OPKIT_PPLNN_INT16, ppl::common::DATATYPE_INT16) &&
                  AreSame(OPKIT_PPLNN_INT32, ppl::common::DATATYPE_INT32) &&
                  AreSame(OPKIT_PPLNN_INT64, ppl::common::DATATYPE_INT64) &&
                  AreSame(OPKIT_PPLNN_BOOL, ppl::common::DATATYPE_BOOL),
              "ppl::common::datatype_t has changed");

const char NAME[] = "${name}";
const uint32_t INPUT_COUNT = ${input_count};
const uint32_t OUTPUT_COUNT = ${output_count};

RetCode CheckCounts(const InputOutputInfo &info)
{
    if (info.GetInputCount() != INPUT_COUNT || info.GetOutputCount() != OUTPUT_COUNT) {
        LOG(ERROR) << NAME << " has [" << info.GetInputCount() << "] inputs and ["
                   << info.GetOutputCount() << "] outputs, expected [" << INPUT_COUNT << "] and ["
                   << OUTPUT_COUNT << "]";
        return RC_INVALID_VALUE;
    }
    return RC_SUCCESS;
}

/* Converts a tensor's description to the glue's struct. */
RetCode Describe(TensorImpl *from, opkit_pplnn_tensor *to)
{
    if (from == nullptr) {
        LOG(ERROR) << NAME << ": an input or output is missing";
        return RC_NOT_FOUND;
    }
    const auto *shape = from->GetShape();
    if (shape->GetDimCount() > OPKIT_MAX_RANK) {
        LOG(ERROR) << "tensor[" << from->GetName() << "] has [" << shape->GetDimCount()
                   << "] dimensions, " << NAME << " takes up to " << OPKIT_MAX_RANK;
        return RC_UNSUPPORTED;
    }
    to->type = shape->GetDataType();
    to->rank = shape->GetRealDimCount();
    for (uint32_t i = 0; i < to->rank; i++) {
        to->dims[i] = shape->GetDim(i);
    }
    to->data = from->GetBufferPtr<void>();
    return RC_SUCCESS;
}

/* Checks that the math supports the data type and format of a tensor. */
RetCode CheckElements(const TensorImpl &tensor)
{
    opkit_type element;
    const auto *shape = tensor.GetShape();

    if (!opkit_pplnn_element(shape->GetDataType(), &element)) {
        LOG(ERROR) << "tensor[" << tensor.GetName() << "] has the data type ["
                   << shape->GetDataType() << "], which " << NAME << " does not support";
        return RC_UNSUPPORTED;
    }
${layout_check}    return RC_SUCCESS;
}

RetCode DescribeInputs(InputOutputInfo *info, opkit_pplnn_tensor *inputs)
{
    RetCode status = CheckCounts(*info);

    for (uint32_t i = 0; i < INPUT_COUNT && status == RC_SUCCESS; i++) {
        status = Describe(info->GetInput<TensorImpl>(i), &inputs[i]);
    }
    return status;
}

/*
 * Marks dimensions of 0 as unknown (-1). While ppl.nn loads a model, it infers shapes with partly
 * unknown dimensions, and other operators derive 0 from -1.
 */
void MarkDerived(opkit_pplnn_tensor *inputs)
{
    for (uint32_t i = 0; i < INPUT_COUNT; i++) {
        for (uint32_t j = 0; j < inputs[i].rank; j++) {
            if (inputs[i].dims[j] == 0) {
                inputs[i].dims[j] = -1;
            }
        }
    }
}

${params_function}${layout_rows}
} // namespace

datatype_t TypeOf${title}Output(uint32_t index, datatype_t first_input)
{
${type_of}
}

${layout_format}void InferTypesOf${title}(InputOutputInfo *info)
{
    const auto *input = info->GetInput<TensorImpl>(0);
    datatype_t first_input = ppl::common::DATATYPE_UNKNOWN;

    if (input != nullptr) {
        first_input = input->GetShape()->GetDataType();
    }
    for (uint32_t i = 0; i < info->GetOutputCount(); i++) {
        auto *shape = info->GetOutput<TensorImpl>(i)->GetShape();
        shape->SetDataType(TypeOf${title}Output(i, first_input));
    }
}

RetCode Reshape${title}(InputOutputInfo *info, const ir::Attr *arg)
{
    opkit_pplnn_tensor inputs[INPUT_COUNT];
    opkit_pplnn_tensor outputs[OUTPUT_COUNT];
    const RetCode status = DescribeInputs(info, inputs);

    if (status != RC_SUCCESS) {
        return status;
    }
    /* A running model passes a KernelExecContext; then a dimension of 0 is an empty tensor. */
    if (dynamic_cast<KernelExecContext *>(info) == nullptr) {
        MarkDerived(inputs);
    }
$infer_call
    if (problem != nullptr) {
        LOG(ERROR) << NAME << ": " << problem;
        return RC_INVALID_VALUE;
    }
    for (uint32_t i = 0; i < OUTPUT_COUNT; i++) {
        auto *shape = info->GetOutput<TensorImpl>(i)->GetShape();
        if (outputs[i].rank == 0) {
            shape->ReshapeAsScalar();
        } else if (outputs[i].rank != OPKIT_PPLNN_UNKNOWN_RANK) {
            shape->Reshape(outputs[i].dims, outputs[i].rank);
        }
    }
    return RC_SUCCESS;
}

${compute}
{
    opkit_pplnn_tensor inputs[INPUT_COUNT];
    opkit_pplnn_tensor outputs[OUTPUT_COUNT];
    RetCode status = DescribeInputs(info, inputs);

    for (uint32_t i = 0; i < INPUT_COUNT && status == RC_SUCCESS; i++) {
        status = CheckElements(*info->GetInput<TensorImpl>(i));
    }
    for (uint32_t i = 0; i < OUTPUT_COUNT && status == RC_SUCCESS; i++) {
        status = Describe(info->GetOutput<TensorImpl>(i), &outputs[i]);
        if (status == RC_SUCCESS) {
            status = CheckElements(*info->GetOutput<TensorImpl>(i));
        }
    }
    if (status != RC_SUCCESS) {
        return status;
    }
${describe_rows}${run}
    if (problem != nullptr) {
        LOG(ERROR) << NAME << ": " << problem;
        return RC_INVALID_VALUE;
    }
    return RC_SUCCESS;
}

}}} // namespace ppl::nn::${space}
