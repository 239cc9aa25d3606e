#ifndef PPL_NN_RUNTIME_KERNEL_IMPL_H
#define PPL_NN_RUNTIME_KERNEL_IMPL_H

#include <functional>
#include <string>

#include "ppl/nn/common/input_output_info.h"
#include "ppl/nn/ir/node.h"

namespace ppl { namespace nn {

class KernelExecContext final : public InputOutputInfo {};

class KernelImpl {
public:
    explicit KernelImpl(const ir::Node *node) : node_(node)
    {
    }
    virtual ~KernelImpl()
    {
    }
    const std::string &GetName() const
    {
        return node_->GetName();
    }
    virtual ppl::common::RetCode Execute(KernelExecContext *ctx) = 0;

private:
    const ir::Node *node_;
};

}} // namespace ppl::nn

#endif
