#ifndef PPL_NN_MODELS_ONNX_PARAM_PARSER_MANAGER_H
#define PPL_NN_MODELS_ONNX_PARAM_PARSER_MANAGER_H

#include <map>
#include <memory>
#include <string>

#include "onnx.pb.h"

#include "ppl/nn/ir/node.h"
#include "ppl/nn/utils/op_info_manager.h"

namespace ppl { namespace nn { namespace onnx {

struct ParamParserExtraArgs final {
    const std::map<std::string, uint64_t> *op_set;
    const char *model_file_dir;
    ir::GraphTopo *topo;
    ir::GraphData *data;
};

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
};

}}} // namespace ppl::nn::onnx

#endif
