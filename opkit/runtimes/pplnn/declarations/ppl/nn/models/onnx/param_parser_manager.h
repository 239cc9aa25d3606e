#ifndef PPL_NN_MODELS_ONNX_PARAM_PARSER_MANAGER_H
#define PPL_NN_MODELS_ONNX_PARAM_PARSER_MANAGER_H

#include <memory>

#include "onnx.pb.h"
#include "ppl/common/retcode.h"
#include "ppl/nn/ir/attr.h"
#include "ppl/nn/models/onnx/param_parser_extra_args.h"
#include "ppl/nn/utils/op_info_manager.h"

namespace ppl { namespace nn { namespace onnx {

typedef std::shared_ptr<ir::Attr> (*CreateParamFunc)();
typedef ppl::common::RetCode (*ParseParamFunc)(const ::onnx::NodeProto &,
                                               const ParamParserExtraArgs &, ir::Node *,
                                               ir::Attr *);
typedef ppl::common::RetCode (*PackParamFunc)(const ir::Node *, const ir::Attr *,
                                              ::onnx::NodeProto *);

struct ParserInfo final {
    CreateParamFunc create_param;
    ParseParamFunc parse_param;
    PackParamFunc pack_param;
};

class ParamParserManager final : public utils::OpInfoManager<ParserInfo> {
public:
    static ParamParserManager *GetInstance()
    {
        static ParamParserManager manager;
        return &manager;
    }

private:
    ParamParserManager()
    {
    }
};

}}} // namespace ppl::nn::onnx

#endif
