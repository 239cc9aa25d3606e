#ifndef PPL_NN_ENGINES_X86_ENGINE_CONFIG_H
#define PPL_NN_ENGINES_X86_ENGINE_CONFIG_H

namespace ppl { namespace nn { namespace x86 {

struct EngineConfig final {};

}}} // namespace ppl::nn::x86

#endif
