#ifndef ${guard}
#define ${guard}

#include "ppl/common/retcode.h"
#include "ppl/nn/common/input_output_info.h"
#include "ppl/nn/ir/attr.h"

namespace ppl { namespace nn { namespace ${space} {

${reshape}

}}} // namespace ppl::nn::${space}

#endif
