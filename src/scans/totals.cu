/* The CUDA kernels of the bodies. */
#include "scans/totals_body.h"
