/* The CUDA kernels of the bodies, at one key width. */
#include "indexes/cgrx/cgrx_nodes_update_body.h"
