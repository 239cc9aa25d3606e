/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
$about
#include "ppl/common/retcode.h"
#include "ppl/nn/models/onnx/param_parser_manager.h"

namespace ppl { namespace nn { namespace onnx {

ppl::common::RetCode Register_${identifier}();

ppl::common::RetCode Register_${identifier}()
{
    ParserInfo info;
    info.create_param = nullptr;
    info.parse_param = nullptr;
    info.pack_param = nullptr;
$register
}

}}} // namespace ppl::nn::onnx
