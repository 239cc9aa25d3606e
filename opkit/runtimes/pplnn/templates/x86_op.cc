/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "${path}.h"

#include "${kernel}.h"
#include "${math}.h"

using namespace ppl::common;

namespace ppl { namespace nn { namespace x86 { namespace ${space} {

RetCode ${title}Op::DoInit(const OptKernelOptions &options)
{
${init}
}

${format_doc}
${select_format}
{
${select_formats}    for (auto &format : *selected_input_formats) {
        format = ${format};
    }
    for (auto &format : *selected_output_formats) {
        format = ${format};
    }
    return RC_SUCCESS;
}

KernelImpl *${title}Op::CreateKernelImpl() const
{
    return ${create};
}

}}}} // namespace ppl::nn::x86::${space}
