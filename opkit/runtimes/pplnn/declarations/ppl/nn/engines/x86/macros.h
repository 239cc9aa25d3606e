#ifndef PPL_NN_ENGINES_X86_MACROS_H
#define PPL_NN_ENGINES_X86_MACROS_H

#include "ppl/nn/common/logger.h"

/* For functions of a kernel that return a RetCode. */
#define PPLNN_X86_REALLOC_TENSOR_BUFFER(tensor)                                  \
    do {                                                                         \
        (tensor)->SetDevice(GetX86Device());                                     \
        const ppl::common::RetCode realloc_status = (tensor)->ReallocBuffer();   \
        if (realloc_status != ppl::common::RC_SUCCESS) {                         \
            LOG(ERROR) << "no memory for tensor[" << (tensor)->GetName() << "]"; \
            return realloc_status;                                               \
        }                                                                        \
    } while (0)

#endif
