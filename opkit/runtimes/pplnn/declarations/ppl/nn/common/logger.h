#ifndef PPL_NN_COMMON_LOGGER_H
#define PPL_NN_COMMON_LOGGER_H

#include "ppl/common/log.h"

#endif
