/* The CUDA kernels of the bodies. */
#include "core/index_body.h"
