/* The CUDA kernels of joins of intervals. */
#include "joins/overlap_body.h"
