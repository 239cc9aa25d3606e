#ifndef PPL_NN_RUNTIME_TENSOR_IMPL_H
#define PPL_NN_RUNTIME_TENSOR_IMPL_H

#include <string>
#include <vector>

#include "ppl/common/retcode.h"
#include "ppl/common/tensor_shape.h"

namespace ppl { namespace nn {

typedef ppl::common::TensorShape TensorShape;

class TensorImpl final {
public:
    explicit TensorImpl(const std::string &name) : name_(name)
    {
    }
    const std::string &GetName() const
    {
        return name_;
    }
    TensorShape *GetShape() const
    {
        return &shape_;
    }
    template <typename T>
    T *GetBufferPtr() const
    {
        return static_cast<T *>(buffer_);
    }
    ppl::common::RetCode ReallocBuffer()
    {
        memory_.assign(shape_.CalcBytesIncludingPadding(), 0);
        buffer_ = memory_.data();
        return ppl::common::RC_SUCCESS;
    }

private:
    std::string name_;
    mutable TensorShape shape_;
    std::vector<char> memory_;
    void *buffer_ = nullptr;
};

}} // namespace ppl::nn

#endif
