#include "ppl/kernel/x86/common/general_include.h"
