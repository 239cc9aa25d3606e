#include "ppl/nn/models/onnx/parsers/${space}/parse_${stem}_param.h"
#include "ppl/nn/models/onnx/utils.h"
#include "ppl/nn/common/logger.h"
using namespace std;
using namespace ppl::common;

namespace ppl { namespace nn { namespace ${space} {

${parse}
    auto param = static_cast<${title}Param*>(arg);
${reads}
    return RC_SUCCESS;
}

${pack}
    auto param = static_cast<const ${title}Param*>(arg);
${writes}
    return RC_SUCCESS;
}

}}} // namespace ppl::nn::${space}
