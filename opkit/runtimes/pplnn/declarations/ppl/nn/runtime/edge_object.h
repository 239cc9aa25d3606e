#ifndef PPL_NN_RUNTIME_EDGE_OBJECT_H
#define PPL_NN_RUNTIME_EDGE_OBJECT_H

#include "ppl/nn/ir/edge.h"

namespace ppl { namespace nn {

class EdgeObject {
public:
    enum {
        T_TENSOR = 1
    };

    EdgeObject(const ir::Edge *edge, uint32_t type) : edge_(edge), type_(type)
    {
    }
    virtual ~EdgeObject()
    {
    }
    const ir::Edge *GetEdge() const
    {
        return edge_;
    }
    uint32_t GetObjectType() const
    {
        return type_;
    }

private:
    const ir::Edge *edge_;
    uint32_t type_;
};

template <typename T>
struct EdgeObjectType final {};

}} // namespace ppl::nn

#endif
