/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include <limits>
#include <string>

#include "${param}.h"
#include "ppl/nn/common/logger.h"
#include "ppl/nn/models/onnx/utils.h"

using ppl::common::RC_INVALID_VALUE;
using ppl::common::RC_NOT_FOUND;
using ppl::common::RC_SUCCESS;
using ppl::common::RetCode;

namespace ppl { namespace nn { namespace ${space} {

namespace {

/*
 * Finds an attribute of a node. Returns nullptr if it is missing, or after an error. Errors are a
 * missing required attribute, and another type, which ppl.nn's GetNodeAttr() would read as 0. An
 * empty list counts as missing, because ONNX does not store it.
 */
const ::onnx::AttributeProto *Find(const ::onnx::NodeProto &pb, const char *name,
                                   ::onnx::AttributeProto::AttributeType type, bool is_required,
                                   RetCode *status)
{
    const ::onnx::AttributeProto *found = nullptr;

    for (int i = 0; i < pb.attribute_size() && *status == RC_SUCCESS; i++) {
        if (pb.attribute(i).name() == name) {
            found = &pb.attribute(i);
        }
    }
    if (found != nullptr && found->type() != type) {
        LOG(ERROR) << "attribute[" << name << "] of node[" << pb.name() << "] has ONNX type ["
                   << static_cast<int32_t>(found->type()) << "], expected ["
                   << static_cast<int32_t>(type) << "]";
        *status = RC_INVALID_VALUE;
        return nullptr;
    }
    const bool is_list =
        type == ::onnx::AttributeProto::INTS || type == ::onnx::AttributeProto::FLOATS;
    if (found != nullptr && is_list && found->ints_size() + found->floats_size() == 0) {
        found = nullptr;
    }
    if (found == nullptr && is_required && *status == RC_SUCCESS) {
        LOG(ERROR) << "attribute[" << name << "] of node[" << pb.name() << "] is missing";
        *status = RC_NOT_FOUND;
    }
    return found;
}

bool IsKnown(const std::string &name)
{
${is_known}
}

/* Warns of unknown attributes: for a misspelt optional one, the default would apply silently. */
void WarnOfUnknown(const ::onnx::NodeProto &pb)
{
    for (int i = 0; i < pb.attribute_size(); i++) {
        const std::string &name = pb.attribute(i).name();
        if (!IsKnown(name)) {
            LOG(WARNING) << "attribute[" << name << "] of node[" << pb.name()
                         << "] is unknown and ignored";
        }
    }
}

${readers}
} // namespace

${parse}
{
    auto *param = static_cast<${title}Param *>(arg);
    RetCode status = RC_SUCCESS;

    WarnOfUnknown(pb);
${reads}
${checks}    return status;
}

${pack}
{
    const auto *param = static_cast<const ${title}Param *>(arg);

${writes}
    return RC_SUCCESS;
}

}}} // namespace ppl::nn::${space}
