/* The name of opkit/runtimes/rknn/openvx.h in repositories made before runtimes had rooms. */
#include "../../../../runtimes/rknn/openvx.h"
