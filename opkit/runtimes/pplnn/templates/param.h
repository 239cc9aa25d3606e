/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include <stdint.h>

#include <string>
#include <vector>

#include "ppl/nn/ir/attr.h"

namespace ppl { namespace nn { namespace ${space} {

/* The attributes of a node, with the defaults of op.yml. Set by the parser, read by kernels. */
$struct {
${members}

    /* For ppl.nn's optimizer, which detects equal nodes. */
    bool operator==(const ${title}Param &other) const
    {
${equal}
    }
};

}}} // namespace ppl::nn::${space}

#endif
