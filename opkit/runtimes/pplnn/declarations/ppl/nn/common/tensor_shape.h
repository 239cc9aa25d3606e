#ifndef PPL_NN_COMMON_TENSOR_SHAPE_H
#define PPL_NN_COMMON_TENSOR_SHAPE_H

#include "ppl/common/tensor_shape.h"

namespace ppl { namespace nn {

typedef ppl::common::TensorShape TensorShape;

}} // namespace ppl::nn

#endif
