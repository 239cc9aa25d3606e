#ifndef PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_H
#define PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_H

#include <functional>
#include <memory>
#include <vector>

#include "ppl/nn/runtime/kernel_impl.h"

namespace ppl { namespace nn { namespace riscv {

struct OptKernelOptions {
    ir::GraphData *graph_data;
};

class RiscvOptKernel {
public:
    explicit RiscvOptKernel(const ir::Node *node) : node_(node)
    {
    }
    virtual ~RiscvOptKernel()
    {
    }
    const ir::Node *GetNode() const
    {
        return node_;
    }
    virtual KernelImpl *CreateKernelImpl() const = 0;
    virtual ppl::common::RetCode Init(const OptKernelOptions &options) = 0;
    /* By default, the formats of the inputs stay, and outputs get that of the first. */
    virtual ppl::common::RetCode SelectFormat(const InputOutputInfo &info,
                                              std::vector<ppl::common::dataformat_t> *inputs,
                                              std::vector<ppl::common::dataformat_t> *outputs)
    {
        for (auto &format : *outputs) {
            format = info.GetInput<TensorImpl>(0)->GetShape()->GetDataFormat();
        }
        (void)inputs;
        return ppl::common::RC_SUCCESS;
    }
    virtual ppl::common::RetCode SelectDataType(const InputOutputInfo &,
                                                ppl::common::datatype_t forward_precision,
                                                std::vector<ppl::common::datatype_t> *inputs,
                                                std::vector<ppl::common::datatype_t> *outputs)
    {
        (void)forward_precision;
        for (auto &type : *outputs) {
            type = inputs->at(0);
        }
        return ppl::common::RC_SUCCESS;
    }

protected:
    template <typename T>
    ppl::common::RetCode GenericLoadParam(const OptKernelOptions &options,
                                          std::shared_ptr<T> *param) const
    {
        const auto found = options.graph_data->attrs.find(node_);
        if (found == options.graph_data->attrs.end()) {
            return ppl::common::RC_NOT_FOUND;
        }
        *param = std::static_pointer_cast<T>(found->second);
        return ppl::common::RC_SUCCESS;
    }
    template <typename KernelType, typename ParamType>
    KernelType *CreateKernelImplWithParam(const ParamType *param) const
    {
        auto *kernel = CreateKernelImplWithoutParam<KernelType>();
        kernel->SetParam(param);
        return kernel;
    }
    template <typename KernelType>
    KernelType *CreateKernelImplWithoutParam() const
    {
        auto *kernel = new KernelType(node_);
        kernel->SetReshapeFunc([this](InputOutputInfo *info) {
            infer_type_func_(info);
            return infer_dims_func_(info);
        });
        return kernel;
    }

    std::function<void(InputOutputInfo *)> infer_type_func_;
    std::function<ppl::common::RetCode(InputOutputInfo *)> infer_dims_func_;

private:
    const ir::Node *node_;
};

}}} // namespace ppl::nn::riscv

#endif
