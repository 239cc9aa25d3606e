#ifndef PPL_NN_IR_ATTR_H
#define PPL_NN_IR_ATTR_H

namespace ppl { namespace nn { namespace ir {

struct Attr {
    virtual ~Attr()
    {
    }
    virtual bool Equals(const Attr *other) const = 0;
};

template <typename T>
struct TypedAttr : public Attr {
    bool Equals(const Attr *other) const final
    {
        return static_cast<const T *>(this)->operator==(*static_cast<const T *>(other));
    }
};

}}} // namespace ppl::nn::ir

#endif
