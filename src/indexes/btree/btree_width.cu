/* The CUDA kernels of kind `btree` at one key width. */
#include "indexes/btree/btree_body.h"
#include "indexes/btree/btree_check_body.h"
