#ifndef ${guard}
#define ${guard}

#include "ppl/nn/ir/attr.h"
#include <stdint.h>
#include <string>
#include <vector>

namespace ppl { namespace nn { namespace ${space} {

struct ${title}Param final : public ir::TypedAttr<${title}Param> {
${members}
    bool operator==(const ${title}Param& p) const {
${equal}
    }
};

}}} // namespace ppl::nn::${space}

#endif
