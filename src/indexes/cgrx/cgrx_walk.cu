/* The CUDA kernels of the walk over lists. */
#include "indexes/cgrx/cgrx_walk_body.h"
