#ifndef PPL_NN_IR_GRAPH_TOPO_H
#define PPL_NN_IR_GRAPH_TOPO_H

namespace ppl { namespace nn { namespace ir {

class GraphTopo;

}}} // namespace ppl::nn::ir

#endif
