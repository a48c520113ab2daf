/* The CUDA kernels of the bodies. */
#include "results/found_body.h"
