#ifndef PPL_NN_ENGINES_RISCV_RISCV_COMMON_PARAM_H
#define PPL_NN_ENGINES_RISCV_RISCV_COMMON_PARAM_H

#include <vector>

#include "ppl/common/types.h"

namespace ppl { namespace nn { namespace riscv {

struct RiscvCommonParam {
    std::vector<ppl::common::dataformat_t> output_formats;
    std::vector<ppl::common::datatype_t> output_types;
};

}}} // namespace ppl::nn::riscv

#endif
