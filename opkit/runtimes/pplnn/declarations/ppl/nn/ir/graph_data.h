#ifndef PPL_NN_IR_GRAPH_DATA_H
#define PPL_NN_IR_GRAPH_DATA_H

#include <map>
#include <memory>

#include "ppl/nn/common/types.h"
#include "ppl/nn/ir/attr.h"

namespace ppl { namespace nn { namespace ir {

struct GraphData final {
    std::map<nodeid_t, std::shared_ptr<Attr>> attrs;
};

}}} // namespace ppl::nn::ir

#endif
