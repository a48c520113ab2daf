/* The CUDA kernels of numbers.c. */
#include "joins/numbers_body.h"
