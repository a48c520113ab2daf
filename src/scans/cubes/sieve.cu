/* The CUDA kernel of the body. */
#include "scans/cubes/sieve_body.h"
