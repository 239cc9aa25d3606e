#include "ppl/kernel/x86/common/internal_include.h"
#include "ppl/kernel/x86/${element}/${stem}.h"
#include "ppl/kernel/x86/${element}/${stem}/${stem}_common.h"

${own}

namespace ppl { namespace kernel { namespace x86 {

// The distance between neighboring elements of an input along each dimension of the output; 0: they repeat.
static bool set_strides(
    const ppl::common::TensorShape *src_shape,
    const ppl::common::TensorShape *dst_shape,
    int64_t *strides)
{
    const int64_t src_rank = src_shape->GetRealDimCount();
    const int64_t dst_rank = dst_shape->GetRealDimCount();
    if (src_rank > dst_rank) {
        return false;
    }

    int64_t stride = 1;
    for (int64_t i = dst_rank - 1; i >= 0; --i) {
        const int64_t src_axis = i - (dst_rank - src_rank);
        const int64_t length = src_axis >= 0 ? src_shape->GetDim(src_axis) : 1;
        if (length != 1 && length != dst_shape->GetDim(i)) {
            return false;
        }
        strides[i] = length == 1 ? 0 : stride;
        stride *= length;
    }
    return true;
}

${declaration}
{
    const int64_t math_inputs = ${count};
    const ppl::common::TensorShape *math_shapes[math_inputs] = {${shapes}};
    int64_t math_strides[math_inputs][PPL_X86_TENSOR_MAX_DIMS()] = {{0}};
    const int64_t math_rank = ${output}_shape->GetRealDimCount();
    if (math_rank > PPL_X86_TENSOR_MAX_DIMS()) {
        return ppl::common::RC_UNSUPPORTED;
    }
    for (int64_t k = 0; k < math_inputs; ++k) {
        if (!set_strides(math_shapes[k], ${output}_shape, math_strides[k])) {
            return ppl::common::RC_INVALID_VALUE;
        }
    }

    const int64_t math_last = math_rank > 0 ? math_rank - 1 : 0;
    const int64_t math_columns = math_rank > 0 ? ${output}_shape->GetDim(math_last) : 1;
    const int64_t math_count = ${output}_shape->CalcElementsExcludingPadding();
    const int64_t math_rows = math_columns > 0 ? math_count / math_columns : 0;
    ${lower}_params math_params = ${lower}_params();

${params}    PRAGMA_OMP_PARALLEL_FOR()
    for (int64_t row = 0; row < math_rows; ++row) {
        int64_t offsets[math_inputs] = {0};
        int64_t rest = row;
        for (int64_t axis = math_last - 1; axis >= 0; --axis) {
            const int64_t length = ${output}_shape->GetDim(axis);
            for (int64_t k = 0; k < math_inputs; ++k) {
                offsets[k] += rest % length * math_strides[k][axis];
            }
            rest /= length;
        }
        for (int64_t i = 0; i < math_columns; ++i) {
            ${output}[row * math_columns + i] = ${lower}_of(
${arguments}
                &math_params);
        }
    }
    return ppl::common::RC_SUCCESS;
}

}}}; // namespace ppl::kernel::x86
