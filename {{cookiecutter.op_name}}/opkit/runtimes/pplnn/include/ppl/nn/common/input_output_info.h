#ifndef PPL_NN_COMMON_INPUT_OUTPUT_INFO_H
#define PPL_NN_COMMON_INPUT_OUTPUT_INFO_H

#include <vector>

#include "ppl/nn/runtime/tensor_impl.h"

namespace ppl { namespace nn {

class InputOutputInfo {
public:
    uint32_t GetInputCount() const
    {
        return static_cast<uint32_t>(inputs.size());
    }
    uint32_t GetOutputCount() const
    {
        return static_cast<uint32_t>(outputs.size());
    }
    template <typename T>
    T *GetInput(uint32_t index) const
    {
        return index < inputs.size() ? static_cast<T *>(inputs[index]) : nullptr;
    }
    template <typename T>
    T *GetOutput(uint32_t index) const
    {
        return index < outputs.size() ? static_cast<T *>(outputs[index]) : nullptr;
    }

    std::vector<TensorImpl *> inputs;
    std::vector<TensorImpl *> outputs;
};

}} // namespace ppl::nn

#endif
