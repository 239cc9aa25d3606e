/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
$about
#include "ppl/common/retcode.h"
#include "ppl/nn/engines/$engine/optimizer/opt_kernel_creator_manager.h"
#include "$header"

namespace ppl { namespace nn { namespace ${engine} {

static $base *Create_${identifier}(const ir::Node *node)
{
    return new ${space}::${title}Op(node);
}

ppl::common::RetCode Register_${identifier}();

ppl::common::RetCode Register_${identifier}()
{
$register
}

}}} // namespace ppl::nn::${engine}
