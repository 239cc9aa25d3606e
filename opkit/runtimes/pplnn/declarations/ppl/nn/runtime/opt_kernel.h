#ifndef PPL_NN_RUNTIME_OPT_KERNEL_H
#define PPL_NN_RUNTIME_OPT_KERNEL_H

#include "ppl/nn/ir/graph_data.h"
#include "ppl/nn/ir/graph_topo.h"
#include "ppl/nn/runtime/kernel_impl.h"

namespace ppl { namespace nn {

class OptKernel {
public:
    OptKernel(const ir::Node *node) : node_(node)
    {
    }
    virtual ~OptKernel()
    {
    }
    const ir::Node *GetNode() const
    {
        return node_;
    }
    virtual KernelImpl *CreateKernelImpl() const = 0;

private:
    const ir::Node *node_;
};

}} // namespace ppl::nn

#endif
