#ifndef PPL_COMMON_TENSOR_SHAPE_H
#define PPL_COMMON_TENSOR_SHAPE_H

#include <vector>

#include "ppl/common/types.h"

namespace ppl { namespace common {

/* A tensor without dimensions is a scalar, or its shape is unknown yet. */
class TensorShape final {
public:
    /* 0 for a scalar. */
    uint32_t GetRealDimCount() const
    {
        return static_cast<uint32_t>(dims_.size());
    }
    /* 1 for a scalar. */
    uint32_t GetDimCount() const
    {
        return is_scalar_ ? 1 : GetRealDimCount();
    }
    int64_t GetDim(uint32_t which) const
    {
        return is_scalar_ ? 1 : dims_[which];
    }
    datatype_t GetDataType() const
    {
        return type_;
    }
    void SetDataType(datatype_t type)
    {
        type_ = type;
    }
    dataformat_t GetDataFormat() const
    {
        return format_;
    }
    void SetDataFormat(dataformat_t format)
    {
        format_ = format;
    }
    bool IsScalar() const
    {
        return is_scalar_;
    }
    void Reshape(const int64_t *dims, uint32_t count)
    {
        dims_.assign(dims, dims + count);
        is_scalar_ = count == 0;
    }
    void ReshapeAsScalar()
    {
        dims_.clear();
        is_scalar_ = true;
    }
    uint64_t CalcElementsIncludingPadding() const
    {
        uint64_t count = is_scalar_ || !dims_.empty() ? 1 : 0;
        for (uint32_t i = 0; i < dims_.size(); i++) {
            const uint64_t block = i == 1 ? Block() : 1;
            count *= (static_cast<uint64_t>(dims_[i]) + block - 1) / block * block;
        }
        return count;
    }
    uint64_t CalcBytesIncludingPadding() const
    {
        return CalcElementsIncludingPadding() * GetSizeOfDataType(type_);
    }

private:
    /* The channels of a block, the second dimension; padding fills up the last block. */
    uint64_t Block() const
    {
        switch (format_) {
        case DATAFORMAT_N4CX:
            return 4;
        case DATAFORMAT_N8CX:
            return 8;
        case DATAFORMAT_N16CX:
            return 16;
        default:
            return 1;
        }
    }

    std::vector<int64_t> dims_;
    datatype_t type_ = DATATYPE_UNKNOWN;
    dataformat_t format_ = DATAFORMAT_UNKNOWN;
    bool is_scalar_ = false;
};

}} // namespace ppl::common

#endif
