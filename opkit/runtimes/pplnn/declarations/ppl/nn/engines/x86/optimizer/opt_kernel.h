#ifndef PPL_NN_ENGINES_X86_OPTIMIZER_OPT_KERNEL_H
#define PPL_NN_ENGINES_X86_OPTIMIZER_OPT_KERNEL_H

#include <functional>
#include <memory>
#include <vector>

#include "ppl/nn/engines/x86/engine_config.h"
#include "ppl/nn/engines/x86/x86_common_param.h"
#include "ppl/nn/runtime/opt_kernel.h"
#include "ppl/nn/runtime/tensor_impl.h"

namespace ppl { namespace nn { namespace x86 {

struct OptKernelOptions final {
    const EngineConfig *config = nullptr;
    ir::GraphData *graph_data = nullptr;
};

class X86OptKernel : public OptKernel {
public:
    X86OptKernel(const ir::Node *node) : OptKernel(node)
    {
        common_param_.output_formats.resize(node->GetOutputCount(),
                                            ppl::common::DATAFORMAT_NDARRAY);
    }
    /* Called by the engine; operators override DoInit(). */
    ppl::common::RetCode Init(const OptKernelOptions &options)
    {
        engine_config_ = options.config;
        return DoInit(options);
    }
    void InferType(InputOutputInfo *info) const
    {
        if (infer_type_func_) {
            infer_type_func_(info);
        }
    }
    ppl::common::RetCode InferDims(InputOutputInfo *info) const
    {
        if (infer_dims_func_) {
            return infer_dims_func_(info);
        }
        return ppl::common::RC_NOT_FOUND;
    }
    virtual ppl::common::RetCode SelectFormat(const InputOutputInfo &,
                                              std::vector<ppl::common::dataformat_t> *,
                                              std::vector<ppl::common::dataformat_t> *)
    {
        return ppl::common::RC_SUCCESS;
    }
    void SetOutputDataFormat(uint32_t index, ppl::common::dataformat_t format)
    {
        common_param_.output_formats[index] = format;
    }

protected:
    virtual ppl::common::RetCode DoInit(const OptKernelOptions &options) = 0;
    template <typename T>
    ppl::common::RetCode GenericLoadParam(const OptKernelOptions &options,
                                          std::shared_ptr<T> *param) const
    {
        const auto found = options.graph_data->attrs.find(GetNode()->GetId());
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
        auto *kernel = new KernelType(GetNode());
        kernel->SetCommonParam(&common_param_);
        kernel->SetEngineConfig(engine_config_);
        kernel->SetReshapeFunc([this](InputOutputInfo *info) {
            infer_type_func_(info);
            for (uint32_t i = 0; i < info->GetOutputCount(); i++) {
                auto *shape = info->GetOutput<TensorImpl>(i)->GetShape();
                shape->SetDataFormat(common_param_.output_formats[i]);
            }
            return infer_dims_func_(info);
        });
        return kernel;
    }

    std::function<void(InputOutputInfo *)> infer_type_func_;
    std::function<ppl::common::RetCode(InputOutputInfo *)> infer_dims_func_;
    X86CommonParam common_param_;
    const EngineConfig *engine_config_ = nullptr;
};

}}} // namespace ppl::nn::x86

#endif
