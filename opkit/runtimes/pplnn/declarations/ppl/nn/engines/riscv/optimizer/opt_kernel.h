#ifndef PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_H
#define PPL_NN_ENGINES_RISCV_OPTIMIZER_OPT_KERNEL_H

#include <functional>
#include <memory>
#include <vector>

#include "ppl/nn/engines/riscv/riscv_common_param.h"
#include "ppl/nn/runtime/opt_kernel.h"
#include "ppl/nn/runtime/tensor_impl.h"

namespace ppl { namespace nn { namespace riscv {

struct OptKernelOptions final {
    ir::GraphData *graph_data = nullptr;
};

class RiscvOptKernel : public OptKernel {
public:
    RiscvOptKernel(const ir::Node *node) : OptKernel(node)
    {
        common_param_.output_formats.resize(node->GetOutputCount(),
                                            ppl::common::DATAFORMAT_NDARRAY);
        common_param_.output_types.resize(node->GetOutputCount(), ppl::common::DATATYPE_FLOAT32);
    }
    virtual ppl::common::RetCode Init(const OptKernelOptions &options) = 0;
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
    /* By default, inputs keep formats and types, and outputs get those of the first input. */
    virtual ppl::common::RetCode SelectFormat(const InputOutputInfo &,
                                              std::vector<ppl::common::dataformat_t> *inputs,
                                              std::vector<ppl::common::dataformat_t> *outputs)
    {
        outputs->assign(outputs->size(), inputs->at(0));
        return ppl::common::RC_SUCCESS;
    }
    virtual ppl::common::RetCode SelectDataType(const InputOutputInfo &, ppl::common::datatype_t,
                                                std::vector<ppl::common::datatype_t> *inputs,
                                                std::vector<ppl::common::datatype_t> *outputs)
    {
        outputs->assign(outputs->size(), inputs->at(0));
        return ppl::common::RC_SUCCESS;
    }
    void SetOutputDataType(uint32_t index, ppl::common::datatype_t type)
    {
        common_param_.output_types[index] = type;
    }
    void SetOutputDataFormat(uint32_t index, ppl::common::dataformat_t format)
    {
        common_param_.output_formats[index] = format;
    }

protected:
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
        kernel->SetReshapeFunc([this](InputOutputInfo *info) {
            infer_type_func_(info);
            for (uint32_t i = 0; i < info->GetOutputCount(); i++) {
                auto *shape = info->GetOutput<TensorImpl>(i)->GetShape();
                shape->SetDataFormat(common_param_.output_formats[i]);
                shape->SetDataType(common_param_.output_types[i]);
            }
            return infer_dims_func_(info);
        });
        return kernel;
    }

    std::function<void(InputOutputInfo *)> infer_type_func_;
    std::function<ppl::common::RetCode(InputOutputInfo *)> infer_dims_func_;
    RiscvCommonParam common_param_;
};

}}} // namespace ppl::nn::riscv

#endif
