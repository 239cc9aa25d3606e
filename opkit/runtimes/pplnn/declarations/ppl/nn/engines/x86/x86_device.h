#ifndef PPL_NN_ENGINES_X86_X86_DEVICE_H
#define PPL_NN_ENGINES_X86_X86_DEVICE_H

#include "ppl/nn/common/device.h"

namespace ppl { namespace nn { namespace x86 {

class X86Device : public Device {};

}}} // namespace ppl::nn::x86

#endif
