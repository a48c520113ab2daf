/* The CUDA kernels of numbers.c. */
#include "joins/partners_body.h"
