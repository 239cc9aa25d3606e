/* The name of opkit/compute/tensor.h in repositories made before runtimes had rooms. */
#include "../../../../compute/tensor.h"
