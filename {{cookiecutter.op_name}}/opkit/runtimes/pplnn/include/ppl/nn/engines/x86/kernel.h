#ifndef PPL_NN_ENGINES_X86_KERNEL_H
#define PPL_NN_ENGINES_X86_KERNEL_H

#include "ppl/nn/common/logger.h"
#include "ppl/nn/runtime/kernel_impl.h"

#define PPLNN_X86_REALLOC_TENSOR_BUFFER(tensor)                              \
    do {                                                                     \
        const ppl::common::RetCode realloc_status = tensor->ReallocBuffer(); \
        if (realloc_status != ppl::common::RC_SUCCESS) {                     \
            return realloc_status;                                           \
        }                                                                    \
    } while (0)

namespace ppl { namespace nn { namespace x86 {

class X86Kernel : public KernelImpl {
public:
    typedef std::function<ppl::common::RetCode(InputOutputInfo *)> ReshapeFunc;

    explicit X86Kernel(const ir::Node *node) : KernelImpl(node)
    {
    }
    void SetReshapeFunc(const ReshapeFunc &function)
    {
        reshape_ = function;
    }
    ppl::common::RetCode Execute(KernelExecContext *ctx) final
    {
        ppl::common::RetCode status = reshape_(ctx);
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

}}} // namespace ppl::nn::x86

#endif
