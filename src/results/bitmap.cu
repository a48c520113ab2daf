/* The CUDA kernels of the bodies. */
#include "results/bitmap_body.h"
