/* The CUDA kernels of counts.c. */
#include "results/counts_body.h"
