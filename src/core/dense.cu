/* The CUDA kernels of the dense walk. */
#include "core/dense_body.h"
