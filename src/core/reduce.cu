/* The CUDA kernels of the bodies. */
#include "core/reduce_body.h"
