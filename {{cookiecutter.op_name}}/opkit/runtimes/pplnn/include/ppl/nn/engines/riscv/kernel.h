#ifndef PPL_NN_ENGINES_RISCV_KERNEL_H
#define PPL_NN_ENGINES_RISCV_KERNEL_H

#include "ppl/nn/common/logger.h"
#include "ppl/nn/runtime/kernel_impl.h"

namespace ppl { namespace nn { namespace riscv {

class RiscvKernel : public KernelImpl {
public:
    typedef std::function<ppl::common::RetCode(InputOutputInfo *)> ReshapeFunc;

    explicit RiscvKernel(const ir::Node *node) : KernelImpl(node)
    {
    }
    void SetReshapeFunc(const ReshapeFunc &function)
    {
        reshape_ = function;
    }
    ppl::common::RetCode Execute(KernelExecContext *ctx) final
    {
        ppl::common::RetCode status = reshape_(ctx);
        for (uint32_t i = 0; i < ctx->GetOutputCount() && status == ppl::common::RC_SUCCESS; i++) {
            status = ctx->GetOutput<TensorImpl>(i)->ReallocBuffer();
        }
        if (status == ppl::common::RC_SUCCESS && CanDoExecute(*ctx)) {
            status = DoExecute(ctx);
        }
        return status;
    }

protected:
    virtual ppl::common::RetCode DoExecute(KernelExecContext *ctx) = 0;
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

private:
    ReshapeFunc reshape_;
};

}}} // namespace ppl::nn::riscv

#endif
