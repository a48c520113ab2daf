/* The CUDA kernels of the bodies. */
#include "scans/vectors_body.h"
