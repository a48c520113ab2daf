/* The CUDA kernels of the walk of tables. */
#include "hashed/walk_body.h"
