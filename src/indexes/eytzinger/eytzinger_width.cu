/* The CUDA kernel that builds kind `eytzinger` at one key width. */
#include "indexes/eytzinger/eytzinger_build_body.h"
