#ifndef PPL_NN_IR_NODE_H
#define PPL_NN_IR_NODE_H

#include <string>
#include <vector>

#include "ppl/nn/ir/edge.h"

namespace ppl { namespace nn { namespace ir {

class Node final {
public:
    Node(nodeid_t id, const std::string *name) : id_(id), name_(name)
    {
    }
    nodeid_t GetId() const
    {
        return id_;
    }
    const std::string &GetName() const
    {
        return *name_;
    }
    uint32_t GetInputCount() const
    {
        return static_cast<uint32_t>(inputs_.size());
    }
    edgeid_t GetInput(uint32_t index) const
    {
        return inputs_[index];
    }
    void AddInput(edgeid_t id)
    {
        inputs_.push_back(id);
    }
    uint32_t GetOutputCount() const
    {
        return static_cast<uint32_t>(outputs_.size());
    }
    edgeid_t GetOutput(uint32_t index) const
    {
        return outputs_[index];
    }
    void AddOutput(edgeid_t id)
    {
        outputs_.push_back(id);
    }

private:
    nodeid_t id_;
    const std::string *name_;
    std::vector<edgeid_t> inputs_;
    std::vector<edgeid_t> outputs_;
};

}}} // namespace ppl::nn::ir

#endif
