/* The CUDA kernels of zones at one key width. */
#include "scans/full/full_zones_body.h"
