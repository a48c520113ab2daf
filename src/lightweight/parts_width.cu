/* The CUDA kernels of the bodies. */
#include "lightweight/parts_body.h"
