#ifndef ${guard}
#define ${guard}

#include "ppl/kernel/x86/common/general_include.h"

namespace ppl { namespace kernel { namespace x86 {

${declaration};

}}}; // namespace ppl::kernel::x86

#endif
