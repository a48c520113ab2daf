/* The CUDA kernels of the walk. */
#include "indexes/btree/btree_walk_body.h"
