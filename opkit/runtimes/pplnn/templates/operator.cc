/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
/* ${name} for the harness of `scons check`; not compiled into ppl.nn. */
#include "../include/opkit/runtimes/pplnn/harness/operator.h"
#include "../pplnn/src/${glue}.h"

namespace {

const char *InferShapes(const opkit_pplnn_tensor *inputs, const void *params,
                        opkit_pplnn_tensor *outputs)
{
    const auto &own = *static_cast<const ${lower}_params *>(params);
${infer}
}

const char *Run(const opkit_pplnn_tensor *inputs, const void *params,
                const opkit_pplnn_tensor *outputs, opkit_pplnn_memory *memory)
{
    const auto &own = *static_cast<const ${lower}_params *>(params);
${run}
}
${params}${threads}
} // namespace

extern "C" {
extern __attribute__((visibility("default")))
const opkit_pplnn_operator ${lower}_pplnn;
const opkit_pplnn_operator ${lower}_pplnn = {
${table}
};
}
