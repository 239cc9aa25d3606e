#ifndef PPL_NN_COMMON_INPUT_OUTPUT_INFO_H
#define PPL_NN_COMMON_INPUT_OUTPUT_INFO_H

#include <functional>

#include "ppl/nn/ir/node.h"
#include "ppl/nn/runtime/edge_object.h"

namespace ppl { namespace nn {

/* The tensors of a node. A missing tensor is nullptr; indices must be in range. */
class InputOutputInfo {
public:
    virtual ~InputOutputInfo()
    {
    }
    void SetNode(const ir::Node *node)
    {
        node_ = node;
    }
    void SetAcquireFunc(const std::function<EdgeObject *(edgeid_t, uint32_t)> &function)
    {
        acquire_ = function;
    }
    uint32_t GetInputCount() const
    {
        return node_->GetInputCount();
    }
    template <typename T>
    T *GetInput(uint32_t index) const
    {
        return static_cast<T *>(acquire_(node_->GetInput(index), EdgeObjectType<T>::value));
    }
    uint32_t GetOutputCount() const
    {
        return node_->GetOutputCount();
    }
    template <typename T>
    T *GetOutput(uint32_t index) const
    {
        return static_cast<T *>(acquire_(node_->GetOutput(index), EdgeObjectType<T>::value));
    }

private:
    const ir::Node *node_ = nullptr;
    std::function<EdgeObject *(edgeid_t, uint32_t)> acquire_;
};

}} // namespace ppl::nn

#endif
