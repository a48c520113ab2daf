/* The CUDA kernels that search kind `eytzinger` at one key width. */
#include "indexes/eytzinger/eytzinger_body.h"
