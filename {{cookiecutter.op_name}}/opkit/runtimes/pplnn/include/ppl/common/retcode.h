#ifndef PPL_COMMON_RETCODE_H
#define PPL_COMMON_RETCODE_H

#include <stdint.h>

namespace ppl { namespace common {

typedef uint32_t RetCode;

enum {
    RC_SUCCESS,
    RC_OTHER_ERROR,
    RC_UNSUPPORTED,
    RC_OUT_OF_MEMORY,
    RC_INVALID_VALUE,
    RC_NOT_FOUND,
    RC_EXISTS
};

}} // namespace ppl::common

#endif
