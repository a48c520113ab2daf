/* The CUDA kernels of lookups at one key width. */
#include "hashed/find_body.h"
