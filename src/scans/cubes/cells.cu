/* The CUDA kernels of the bodies. */
#include "scans/cubes/cells_body.h"
