/* The CUDA kernels of the bodies. */
#include "scans/bindex/bindex_fill_body.h"
