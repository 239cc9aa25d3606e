/* In place of ppl.kernel.cpu's and ppl.common's headers: what an operator's math uses of them. */
#ifndef GENERAL_INCLUDE_H
#define GENERAL_INCLUDE_H

#include <stdint.h>

#include <vector>

#define PRAGMA_OMP_PARALLEL_FOR()
#define PPL_X86_TENSOR_MAX_DIMS() 8

namespace ppl { namespace common {

typedef uint32_t RetCode;
enum {
    RC_SUCCESS = 0,
    RC_UNSUPPORTED = 2,
    RC_INVALID_VALUE = 4
};

struct TensorShape {
    std::vector<int64_t> dims;

    uint32_t GetRealDimCount() const
    {
        return dims.size();
    }
    int64_t GetDim(uint32_t index) const
    {
        return dims[index];
    }
    uint64_t CalcElementsExcludingPadding() const
    {
        uint64_t count = 1;
        for (int64_t dim : dims) {
            count *= dim;
        }
        return count;
    }
    uint64_t CalcElementsIncludingPadding() const
    {
        return CalcElementsExcludingPadding();
    }
};

}} // namespace ppl::common

#endif
