#ifndef PPL_COMMON_RETCODE_H
#define PPL_COMMON_RETCODE_H

#include <stdint.h>

namespace ppl { namespace common {

typedef uint32_t RetCode;

enum {
    RC_SUCCESS = 0,
    RC_OTHER_ERROR = 1,
    RC_UNSUPPORTED = 2,
    RC_OUT_OF_MEMORY = 3,
    RC_INVALID_VALUE = 4,
    RC_EXISTS = 5,
    RC_NOT_FOUND = 6
};

}} // namespace ppl::common

#endif
