/* The CUDA kernels of the bodies. */
#include "sorted/build_body.h"
