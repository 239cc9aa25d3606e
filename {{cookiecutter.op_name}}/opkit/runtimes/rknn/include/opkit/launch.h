/* The name of opkit/runtimes/rknn/launch.h in repositories made before runtimes had rooms. */
#include "../../../../runtimes/rknn/launch.h"
