/* The CUDA kernels of keys.c. */
#include "joins/keys_body.h"
