/* The CUDA kernels of the dense walk. */
#include "results/dense_body.h"
