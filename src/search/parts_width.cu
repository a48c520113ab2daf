/* The CUDA kernels of the bodies. */
#include "search/parts_body.h"
