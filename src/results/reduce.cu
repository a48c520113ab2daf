/* The CUDA kernels of the bodies. */
#include "results/reduce_body.h"
