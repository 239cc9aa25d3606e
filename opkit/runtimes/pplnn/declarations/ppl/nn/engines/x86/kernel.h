#ifndef PPL_NN_ENGINES_X86_KERNEL_H
#define PPL_NN_ENGINES_X86_KERNEL_H

#include <functional>

#include "ppl/nn/engines/x86/engine_config.h"
#include "ppl/nn/engines/x86/macros.h"
#include "ppl/nn/engines/x86/x86_common_param.h"
#include "ppl/nn/engines/x86/x86_device.h"
#include "ppl/nn/runtime/kernel_impl.h"
#include "ppl/nn/runtime/tensor_impl.h"

namespace ppl { namespace nn { namespace x86 {

class X86Kernel : public KernelImpl {
public:
    X86Kernel(const ir::Node *node) : KernelImpl(node)
    {
    }
    ppl::common::RetCode Execute(KernelExecContext *ctx) final
    {
        ppl::common::RetCode status = Reshape(ctx);
        if (status == ppl::common::RC_SUCCESS && CanDoExecute(*ctx)) {
            status = DoExecute(ctx);
        }
        return status;
    }
    ppl::common::RetCode Reshape(InputOutputInfo *info) const final
    {
        return reshape_(info);
    }
    void SetReshapeFunc(const std::function<ppl::common::RetCode(InputOutputInfo *)> &function)
    {
        reshape_ = function;
    }
    void SetCommonParam(const X86CommonParam *)
    {
    }
    void SetEngineConfig(const EngineConfig *)
    {
    }

protected:
    /* By default, a kernel with an empty input is skipped. */
    virtual bool CanDoExecute(const KernelExecContext &ctx) const
    {
        for (uint32_t i = 0; i < ctx.GetInputCount(); i++) {
            const auto *input = ctx.GetInput<TensorImpl>(i);
            if (input == nullptr || input->GetShape()->CalcBytesIncludingPadding() == 0) {
                return false;
            }
        }
        return true;
    }
    virtual ppl::common::RetCode DoExecute(KernelExecContext *ctx) = 0;
    X86Device *GetX86Device()
    {
        return &device_;
    }

private:
    std::function<ppl::common::RetCode(InputOutputInfo *)> reshape_;
    X86Device device_;
};

}}} // namespace ppl::nn::x86

#endif
