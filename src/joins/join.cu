/* The CUDA kernels of the bodies. */
#include "joins/join_body.h"
