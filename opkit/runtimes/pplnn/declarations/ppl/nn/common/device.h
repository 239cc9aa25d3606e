#ifndef PPL_NN_COMMON_DEVICE_H
#define PPL_NN_COMMON_DEVICE_H

namespace ppl { namespace nn {

class Device {};

}} // namespace ppl::nn

#endif
