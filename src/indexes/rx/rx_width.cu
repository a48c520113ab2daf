/* The CUDA kernels of the bodies, at one key width. */
#include "indexes/rx/rx_body.h"
