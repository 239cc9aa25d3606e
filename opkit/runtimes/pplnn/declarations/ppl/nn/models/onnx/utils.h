#ifndef PPL_NN_MODELS_ONNX_UTILS_H
#define PPL_NN_MODELS_ONNX_UTILS_H

#include "onnx.pb.h"
#include "ppl/common/types.h"

namespace ppl { namespace nn { namespace onnx { namespace utils {

template <typename T>
void SetNodeAttr(::onnx::NodeProto *node, const std::string &key, const T &value)
{
    static_assert(std::is_arithmetic<T>::value, "a number");
    ::onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(key);
    if (std::is_integral<T>::value) {
        attribute->set_i(static_cast<int64_t>(value));
        attribute->set_type(::onnx::AttributeProto_AttributeType_INT);
    } else {
        attribute->set_f(static_cast<float>(value));
        attribute->set_type(::onnx::AttributeProto_AttributeType_FLOAT);
    }
}

/* An empty list is not written. */
template <typename T>
void SetNodeAttr(::onnx::NodeProto *node, const std::string &key, const std::vector<T> &values)
{
    static_assert(std::is_arithmetic<T>::value, "a list of numbers");
    if (values.empty()) {
        return;
    }
    ::onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(key);
    attribute->set_type(std::is_integral<T>::value ? ::onnx::AttributeProto_AttributeType_INTS
                                                   : ::onnx::AttributeProto_AttributeType_FLOATS);
    for (T value : values) {
        if (std::is_integral<T>::value) {
            attribute->add_ints(static_cast<int64_t>(value));
        } else {
            attribute->add_floats(static_cast<float>(value));
        }
    }
}

inline void SetNodeAttr(::onnx::NodeProto *node, const std::string &key, const std::string &value)
{
    ::onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(key);
    attribute->set_s(value);
    attribute->set_type(::onnx::AttributeProto_AttributeType_STRING);
}

}}}} // namespace ppl::nn::onnx::utils

#endif
