/* The CUDA kernels of updates at one key width. */
#include "hashed/update_body.h"
