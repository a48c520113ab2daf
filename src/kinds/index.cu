/* The CUDA kernels of the bodies. */
#include "kinds/index_body.h"
