/* The CUDA kernel of limit.c. */
#include "lookup/limit_body.h"
