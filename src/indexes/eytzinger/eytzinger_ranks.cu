/* The CUDA kernels of the walk. */
#include "indexes/eytzinger/eytzinger_ranks_body.h"
