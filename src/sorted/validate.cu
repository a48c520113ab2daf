/* The CUDA kernels of the bodies. */
#include "sorted/validate_body.h"
