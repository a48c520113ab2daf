/* The CUDA kernels of asof_ranked.c. */
#include "joins/asof_ranked_body.h"
