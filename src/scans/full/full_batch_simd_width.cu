/* The CUDA kernels for many conditions. */
#include "scans/full/full_batch_body.h"
