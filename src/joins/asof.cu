/* The CUDA kernels of asof.c. */
#include "joins/asof_body.h"
