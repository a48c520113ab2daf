/* The CUDA kernels of covering.c. */
#include "joins/covering_body.h"
