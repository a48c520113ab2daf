/* The CUDA kernels of sample.c. */
#include "joins/sample_body.h"
