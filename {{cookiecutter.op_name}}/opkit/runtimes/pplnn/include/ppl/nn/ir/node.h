#ifndef PPL_NN_IR_NODE_H
#define PPL_NN_IR_NODE_H

#include <map>
#include <memory>
#include <string>

#include "ppl/nn/ir/attr.h"

namespace ppl { namespace nn { namespace ir {

class Node {
public:
    explicit Node(const std::string &name) : name_(name)
    {
    }
    const std::string &GetName() const
    {
        return name_;
    }

private:
    std::string name_;
};

class GraphTopo;

struct GraphData {
    std::map<const Node *, std::shared_ptr<Attr>> attrs;
};

}}} // namespace ppl::nn::ir

#endif
