/* The CUDA kernels that search and update kind `eytzinger` at one key width. */
#include "indexes/eytzinger/eytzinger_body.h"
#include "indexes/eytzinger/eytzinger_merge_body.h"
