/* The CUDA kernels of kind `full`. */
#include "scans/full/full_body.h"
