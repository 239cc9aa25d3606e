#ifndef PPL_NN_MODELS_ONNX_UTILS_H
#define PPL_NN_MODELS_ONNX_UTILS_H

#include "onnx.pb.h"

namespace ppl { namespace nn { namespace onnx { namespace utils {

inline ::onnx::AttributeProto *AddAttribute(::onnx::NodeProto *node, const char *key,
                                            ::onnx::AttributeProto::AttributeType type)
{
    ::onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(key);
    attribute->set_type(type);
    return attribute;
}

inline void SetNodeAttr(::onnx::NodeProto *node, const char *key, int64_t value)
{
    AddAttribute(node, key, ::onnx::AttributeProto::INT)->set_i(value);
}

inline void SetNodeAttr(::onnx::NodeProto *node, const char *key, float value)
{
    AddAttribute(node, key, ::onnx::AttributeProto::FLOAT)->set_f(value);
}

inline void SetNodeAttr(::onnx::NodeProto *node, const char *key, const std::string &value)
{
    AddAttribute(node, key, ::onnx::AttributeProto::STRING)->set_s(value);
}

/* An empty list is not written. */
inline void SetNodeAttr(::onnx::NodeProto *node, const char *key,
                        const std::vector<int32_t> &values)
{
    if (!values.empty()) {
        ::onnx::AttributeProto *attribute = AddAttribute(node, key, ::onnx::AttributeProto::INTS);
        for (int32_t value : values) {
            attribute->add_ints(value);
        }
    }
}

inline void SetNodeAttr(::onnx::NodeProto *node, const char *key, const std::vector<float> &values)
{
    if (!values.empty()) {
        ::onnx::AttributeProto *attribute = AddAttribute(node, key, ::onnx::AttributeProto::FLOATS);
        for (float value : values) {
            attribute->add_floats(value);
        }
    }
}

}}}} // namespace ppl::nn::onnx::utils

#endif
