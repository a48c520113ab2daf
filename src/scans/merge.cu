/* The CUDA kernels of the bodies. */
#include "scans/merge_body.h"
