/* The CUDA kernels of the bodies. */
#include "scans/bindex/bindex_select_body.h"
