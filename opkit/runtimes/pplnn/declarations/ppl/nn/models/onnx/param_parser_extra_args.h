#ifndef PPL_NN_MODELS_ONNX_PARAM_PARSER_EXTRA_ARGS_H
#define PPL_NN_MODELS_ONNX_PARAM_PARSER_EXTRA_ARGS_H

#include <map>
#include <string>

#include "ppl/nn/ir/graph_data.h"
#include "ppl/nn/ir/graph_topo.h"
#include "ppl/nn/ir/node.h"

namespace ppl { namespace nn { namespace onnx {

struct ParamParserExtraArgs final {
    const std::map<std::string, uint64_t> *op_set;
    const char *model_file_dir;
    ir::GraphTopo *topo;
    ir::GraphData *data;
};

}}} // namespace ppl::nn::onnx

#endif
