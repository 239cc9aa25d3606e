#include "ppl/kernel/x86/common/internal_include.h"
#include "ppl/kernel/x86/${element}/${stem}.h"
#include "ppl/kernel/x86/${element}/${stem}/${stem}_common.h"

${own}

namespace ppl { namespace kernel { namespace x86 {

${declaration}
{
    const int64_t math_count = ${first}_shape->CalcElementsIncludingPadding();
    ${lower}_params math_params = ${lower}_params();

${params}    PRAGMA_OMP_PARALLEL_FOR()
    for (int64_t i = 0; i < math_count; ++i) {
        ${output}[i] = ${lower}_of(${first}[i], &math_params);
    }
    return ppl::common::RC_SUCCESS;
}

}}}; // namespace ppl::kernel::x86
