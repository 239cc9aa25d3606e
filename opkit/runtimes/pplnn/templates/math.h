/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include "ppl/common/retcode.h"
#include "ppl/common/types.h"
#include "ppl/nn/common/input_output_info.h"
#include "ppl/nn/ir/attr.h"

/* Functions shared by the engines' ops and kernels of ${name}. */

namespace ppl { namespace nn { namespace ${space} {

${type_of_doc}
${type_of}

${layout_format}/* Sets the data types of the outputs. */
void InferTypesOf${title}(InputOutputInfo *info);

/* Sets the shapes of the outputs. */
${reshape}

struct ${title}Memory;

/* Computes the outputs, whose memory must be allocated, with the kernel's own memory. */
${compute}

}}} // namespace ppl::nn::${space}

#endif
