#ifndef PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_CREATOR_MANAGER_H
#define PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_CREATOR_MANAGER_H

#include "ppl/nn/engines/riscv/optimizer/opt_kernel.h"
#include "ppl/nn/utils/op_info_manager.h"

namespace ppl { namespace nn { namespace riscv {

typedef RiscvOptKernel *(*OptKernelCreator)(const ir::Node *);

using OptKernelCreatorManager = utils::OpInfoManager<OptKernelCreator>;

}}} // namespace ppl::nn::riscv

#endif
