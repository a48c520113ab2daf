/* The CUDA kernels that search partitioned batches in kind `btree`, at one key width. */
#include "indexes/btree/btree_parts_body.h"
