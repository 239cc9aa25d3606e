/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
$about
#include <memory>

#include "ppl/common/retcode.h"
#include "ppl/nn/models/onnx/param_parser_manager.h"
#include "$parser_header"
#include "$param_header"

namespace ppl { namespace nn { namespace onnx {

static std::shared_ptr<ir::Attr> Create_${identifier}()
{
    return std::make_shared<nn::${space}::${title}Param>();
}

ppl::common::RetCode Register_${identifier}();

ppl::common::RetCode Register_${identifier}()
{
    ParserInfo info;
    info.create_param = Create_${identifier};
    info.parse_param = nn::${space}::Parse${title}Param;
    info.pack_param = nn::${space}::Pack${title}Param;
$register
}

}}} // namespace ppl::nn::onnx
