#ifndef ONNX_PB_H
#define ONNX_PB_H

#include <stdint.h>

#include <string>
#include <vector>

/* The part of protobuf's code for ONNX's NodeProto that operators use. */
namespace onnx {

enum AttributeProto_AttributeType : int {
    AttributeProto_AttributeType_UNDEFINED = 0,
    AttributeProto_AttributeType_FLOAT = 1,
    AttributeProto_AttributeType_INT = 2,
    AttributeProto_AttributeType_STRING = 3,
    AttributeProto_AttributeType_FLOATS = 6,
    AttributeProto_AttributeType_INTS = 7
};

class AttributeProto {
public:
    typedef AttributeProto_AttributeType AttributeType;
    static constexpr AttributeType FLOAT = AttributeProto_AttributeType_FLOAT;
    static constexpr AttributeType INT = AttributeProto_AttributeType_INT;
    static constexpr AttributeType STRING = AttributeProto_AttributeType_STRING;
    static constexpr AttributeType FLOATS = AttributeProto_AttributeType_FLOATS;
    static constexpr AttributeType INTS = AttributeProto_AttributeType_INTS;

    const std::string &name() const
    {
        return name_;
    }
    AttributeProto_AttributeType type() const
    {
        return type_;
    }
    float f() const
    {
        return f_;
    }
    int64_t i() const
    {
        return i_;
    }
    const std::string &s() const
    {
        return s_;
    }
    float floats(int index) const
    {
        return floats_[static_cast<size_t>(index)];
    }
    int64_t ints(int index) const
    {
        return ints_[static_cast<size_t>(index)];
    }
    int floats_size() const
    {
        return static_cast<int>(floats_.size());
    }
    int ints_size() const
    {
        return static_cast<int>(ints_.size());
    }
    void set_name(const std::string &name)
    {
        name_ = name;
    }
    void set_type(AttributeProto_AttributeType type)
    {
        type_ = type;
    }
    void set_f(float value)
    {
        f_ = value;
    }
    void set_i(int64_t value)
    {
        i_ = value;
    }
    void set_s(const std::string &value)
    {
        s_ = value;
    }
    void add_floats(float value)
    {
        floats_.push_back(value);
    }
    void add_ints(int64_t value)
    {
        ints_.push_back(value);
    }

private:
    std::string name_;
    AttributeProto_AttributeType type_ = AttributeProto_AttributeType_UNDEFINED;
    float f_ = 0;
    int64_t i_ = 0;
    std::string s_;
    std::vector<float> floats_;
    std::vector<int64_t> ints_;
};

class NodeProto {
public:
    const std::string &name() const
    {
        return name_;
    }
    int attribute_size() const
    {
        return static_cast<int>(attributes_.size());
    }
    const AttributeProto &attribute(int index) const
    {
        return attributes_[static_cast<size_t>(index)];
    }
    void set_name(const std::string &name)
    {
        name_ = name;
    }
    AttributeProto *add_attribute()
    {
        attributes_.push_back(AttributeProto());
        return &attributes_.back();
    }

private:
    std::string name_;
    std::vector<AttributeProto> attributes_;
};

} // namespace onnx

#endif
