#ifndef PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_CREATOR_MANAGER_H
#define PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_CREATOR_MANAGER_H

#include "ppl/nn/engines/riscv/optimizer/opt_kernel.h"
#include "ppl/nn/utils/op_info_manager.h"

namespace ppl { namespace nn { namespace riscv {

typedef RiscvOptKernel *(*OptKernelCreator)(const ir::Node *);

class OptKernelCreatorManager final : public utils::OpInfoManager<OptKernelCreator> {
public:
    static OptKernelCreatorManager *GetInstance()
    {
        static OptKernelCreatorManager manager;
        return &manager;
    }
};

}}} // namespace ppl::nn::riscv

#endif
