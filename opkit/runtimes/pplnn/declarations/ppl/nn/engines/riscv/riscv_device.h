#ifndef PPL_NN_ENGINES_RISCV_RISCV_DEVICE_H
#define PPL_NN_ENGINES_RISCV_RISCV_DEVICE_H

#include "ppl/nn/common/device.h"

namespace ppl { namespace nn { namespace riscv {

class RiscvDevice : public Device {};

}}} // namespace ppl::nn::riscv

#endif
