/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${guard}
#define ${guard}

#include <stdint.h>

#include <string>
#include <vector>

#include "ppl/nn/ir/attr.h"

namespace ppl { namespace nn { namespace ${space} {

/* The attributes of a node, with the defaults of op.yml. The parser writes it, kernels read it. */
struct ${title}Param final : public ir::TypedAttr<${title}Param> {
${members}

    /* By this, ppl.nn's optimizer finds nodes that do the same. */
    bool operator==(const ${title}Param &other) const
    {
${equal}
    }
};

}}} // namespace ppl::nn::${space}

#endif
