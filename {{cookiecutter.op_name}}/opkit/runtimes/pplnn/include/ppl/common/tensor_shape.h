#ifndef PPL_COMMON_TENSOR_SHAPE_H
#define PPL_COMMON_TENSOR_SHAPE_H

#include <vector>

#include "ppl/common/types.h"

namespace ppl { namespace common {

class TensorShape final {
public:
    uint32_t GetDimCount() const
    {
        return is_scalar_ ? 0 : static_cast<uint32_t>(dims_.size());
    }
    int64_t GetDim(uint32_t which) const
    {
        return dims_[which];
    }
    const int64_t *GetDims() const
    {
        return dims_.data();
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
        is_scalar_ = false;
    }
    void Reshape(const std::vector<int64_t> &dims)
    {
        dims_ = dims;
        is_scalar_ = false;
    }
    void ReshapeAsScalar()
    {
        dims_.clear();
        is_scalar_ = true;
    }
    uint64_t CalcElementsIncludingPadding() const
    {
        uint64_t count = is_scalar_ || !dims_.empty() ? 1 : 0;
        for (int64_t dim : dims_) {
            count *= static_cast<uint64_t>(dim);
        }
        return count;
    }
    uint64_t CalcBytesIncludingPadding() const
    {
        return CalcElementsIncludingPadding() * GetSizeOfDataType(type_);
    }

private:
    std::vector<int64_t> dims_;
    datatype_t type_ = DATATYPE_UNKNOWN;
    dataformat_t format_ = DATAFORMAT_NDARRAY;
    bool is_scalar_ = false;
};

}} // namespace ppl::common

#endif
