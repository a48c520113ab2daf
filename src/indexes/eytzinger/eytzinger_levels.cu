/* The CUDA kernels of the walk. */
#include "indexes/eytzinger/eytzinger_levels_body.h"
