#ifndef PPL_NN_IR_EDGE_H
#define PPL_NN_IR_EDGE_H

#include <string>

#include "ppl/nn/common/types.h"

namespace ppl { namespace nn { namespace ir {

/* The connection for a tensor, from a node to others. */
class Edge {
public:
    virtual ~Edge()
    {
    }
    virtual const std::string &GetName() const = 0;
};

}}} // namespace ppl::nn::ir

#endif
