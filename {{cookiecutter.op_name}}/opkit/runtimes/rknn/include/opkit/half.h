/* The name of opkit/compute/half.h in repositories made before runtimes had rooms. */
#include "../../../../compute/half.h"
