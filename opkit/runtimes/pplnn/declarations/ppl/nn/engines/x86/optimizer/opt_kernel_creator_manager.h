#ifndef PPL_NN_ENGINES_X86_OPTIMIZER_OPT_KERNEL_CREATOR_MANAGER_H
#define PPL_NN_ENGINES_X86_OPTIMIZER_OPT_KERNEL_CREATOR_MANAGER_H

#include "ppl/nn/engines/x86/optimizer/opt_kernel.h"
#include "ppl/nn/utils/op_info_manager.h"

namespace ppl { namespace nn { namespace x86 {

typedef X86OptKernel *(*OptKernelCreator)(const ir::Node *);

using OptKernelCreatorManager = utils::OpInfoManager<OptKernelCreator>;

}}} // namespace ppl::nn::x86

#endif
