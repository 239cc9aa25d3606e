#ifndef PPL_COMMON_TYPES_H
#define PPL_COMMON_TYPES_H

#include <stdint.h>

namespace ppl { namespace common {

typedef uint32_t datatype_t;
typedef uint32_t dataformat_t;

enum {
    DATATYPE_UNKNOWN = 0,
    DATATYPE_UINT8 = 1,
    DATATYPE_UINT16 = 2,
    DATATYPE_UINT32 = 3,
    DATATYPE_UINT64 = 4,
    DATATYPE_FLOAT16 = 5,
    DATATYPE_FLOAT32 = 6,
    DATATYPE_FLOAT64 = 7,
    DATATYPE_INT8 = 10,
    DATATYPE_INT16 = 11,
    DATATYPE_INT32 = 12,
    DATATYPE_INT64 = 13,
    DATATYPE_BOOL = 14
};

enum {
    DATAFORMAT_UNKNOWN = 0,
    DATAFORMAT_NDARRAY = 1,
    DATAFORMAT_N4CX = 5,
    DATAFORMAT_N8CX = 6,
    DATAFORMAT_N16CX = 7
};

/* The size of one element, in bytes. */
inline uint32_t GetSizeOfDataType(datatype_t type)
{
    static const uint32_t SIZES[] = {0, 1, 2, 4, 8, 2, 4, 8, 2, 1, 1, 2, 4, 8, 1};
    return SIZES[type];
}

}} // namespace ppl::common

#endif
