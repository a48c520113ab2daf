/* The CUDA kernels for many conditions. */
#include "scans/full/full_many_body.h"
