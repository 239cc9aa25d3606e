/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "ppl/common/retcode.h"
#include "ppl/nn/models/onnx/param_parser_manager.h"

namespace ppl { namespace nn { namespace ${space} {

/* Reads the attributes of an ONNX node into a ${title}Param. */
${parse}

/* Writes a ${title}Param into the attributes of an ONNX node. */
${pack}

}}} // namespace ppl::nn::${space}

#endif
