/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
${threads}#include "${path}.h"

#include "${stem}_math_files.h"

namespace ppl { namespace nn { namespace ${space} {

${title}Memory::~${title}Memory()
{
    for (opkit_scratch &each : tensors) {
        opkit_release_scratch(&each);
    }
    opkit_release_half_table(&kept.table);
}

${infer}
{
${infer_body}
}

${run}
{
    ${lower}_inputs in;
    ${lower}_outputs out;
    const opkit_pplnn_view views[] = {
${views}
    };
    const size_t count = sizeof views / sizeof *views;

    const char *problem = opkit_pplnn_open(views, count, ${half}, memory->tensors);
    if (problem == nullptr && !opkit_are_empty(&out, sizeof out)) {
${compute}
    }
    if (problem == nullptr) {
        opkit_pplnn_write(views, count);
    }
    return problem;
}

${thread_functions}}}} // namespace ppl::nn::${space}
