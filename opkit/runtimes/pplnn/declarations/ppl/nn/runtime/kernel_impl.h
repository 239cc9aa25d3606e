#ifndef PPL_NN_RUNTIME_KERNEL_IMPL_H
#define PPL_NN_RUNTIME_KERNEL_IMPL_H

#include <string>

#include "ppl/common/retcode.h"
#include "ppl/nn/common/device.h"
#include "ppl/nn/runtime/kernel_exec_context.h"

namespace ppl { namespace nn {

class KernelImpl {
public:
    KernelImpl(const ir::Node *node) : node_(node)
    {
    }
    virtual ~KernelImpl()
    {
    }
    const ir::Node *GetNode() const
    {
        return node_;
    }
    const std::string &GetName() const
    {
        return node_->GetName();
    }
    virtual ppl::common::RetCode Reshape(InputOutputInfo *info) const = 0;
    virtual ppl::common::RetCode Execute(KernelExecContext *ctx) = 0;

private:
    const ir::Node *node_;
};

}} // namespace ppl::nn

#endif
