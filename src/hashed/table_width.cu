/* The CUDA kernels that fill a table at one key width. */
#include "hashed/fill_body.h"
