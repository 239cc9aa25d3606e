#ifndef ${guard}
#define ${guard}

#include "ppl/common/retcode.h"
#include "ppl/nn/params/${space}/${stem}_param.h"
#include "ppl/nn/models/onnx/param_parser_extra_args.h"
#include "onnx.pb.h"

namespace ppl { namespace nn { namespace ${space} {

${parse}

${pack}

}}} // namespace ppl::nn::${space}

#endif
