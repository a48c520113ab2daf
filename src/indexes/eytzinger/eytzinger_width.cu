/* The CUDA kernels of building and checking at one key width. */
#include "indexes/eytzinger/eytzinger_build_body.h"
