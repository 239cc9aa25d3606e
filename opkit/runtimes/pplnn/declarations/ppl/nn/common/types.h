#ifndef PPL_NN_COMMON_TYPES_H
#define PPL_NN_COMMON_TYPES_H

#include <stdint.h>

namespace ppl { namespace nn {

typedef uint32_t nodeid_t;
typedef uint32_t edgeid_t;

enum {
    TENSORTYPE_NORMAL = 0
};
typedef uint32_t tensortype_t;

}} // namespace ppl::nn

#endif
