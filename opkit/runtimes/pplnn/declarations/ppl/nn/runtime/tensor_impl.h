#ifndef PPL_NN_RUNTIME_TENSOR_IMPL_H
#define PPL_NN_RUNTIME_TENSOR_IMPL_H

#include <string>
#include <vector>

#include "ppl/common/retcode.h"
#include "ppl/nn/common/device.h"
#include "ppl/nn/common/tensor_shape.h"
#include "ppl/nn/common/types.h"
#include "ppl/nn/runtime/edge_object.h"

namespace ppl { namespace nn {

class TensorImpl;

template <>
struct EdgeObjectType<TensorImpl> final {
    static constexpr uint32_t value = EdgeObject::T_TENSOR;
};

class TensorImpl final : public EdgeObject {
public:
    TensorImpl(const ir::Edge *edge, tensortype_t type)
        : EdgeObject(edge, EdgeObjectType<TensorImpl>::value), type_(type)
    {
    }
    const char *GetName() const
    {
        return GetEdge()->GetName().c_str();
    }
    tensortype_t GetType() const
    {
        return type_;
    }
    TensorShape *GetShape() const
    {
        return &shape_;
    }
    ppl::common::RetCode SetDevice(Device *)
    {
        return ppl::common::RC_SUCCESS;
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
    tensortype_t type_;
    mutable TensorShape shape_;
    std::vector<char> memory_;
    void *buffer_ = nullptr;
};

}} // namespace ppl::nn

#endif
