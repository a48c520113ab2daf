/* The CUDA kernels that update kind `btree`, at one key width. */
#include "indexes/btree/btree_update_body.h"
