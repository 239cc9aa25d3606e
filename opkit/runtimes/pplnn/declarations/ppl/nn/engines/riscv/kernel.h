#ifndef PPL_NN_ENGINES_RISCV_KERNEL_H
#define PPL_NN_ENGINES_RISCV_KERNEL_H

#include <functional>

#include "ppl/common/log.h"
#include "ppl/nn/engines/riscv/riscv_common_param.h"
#include "ppl/nn/engines/riscv/riscv_device.h"
#include "ppl/nn/runtime/kernel_impl.h"
#include "ppl/nn/runtime/tensor_impl.h"

namespace ppl { namespace nn { namespace riscv {

class RiscvKernel : public KernelImpl {
public:
    RiscvKernel(const ir::Node *node) : KernelImpl(node)
    {
    }
    ppl::common::RetCode Execute(KernelExecContext *ctx) override
    {
        ppl::common::RetCode status = Reshape(ctx);
        for (uint32_t i = 0; i < ctx->GetOutputCount() && status == ppl::common::RC_SUCCESS; i++) {
            status = ctx->GetOutput<TensorImpl>(i)->ReallocBuffer();
        }
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
    void SetCommonParam(const RiscvCommonParam *)
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
    RiscvDevice *GetRiscvDevice()
    {
        return &device_;
    }

private:
    std::function<ppl::common::RetCode(InputOutputInfo *)> reshape_;
    RiscvDevice device_;
};

}}} // namespace ppl::nn::riscv

#endif
