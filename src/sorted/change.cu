/* The CUDA kernels of the bodies. */
#include "sorted/change_body.h"
