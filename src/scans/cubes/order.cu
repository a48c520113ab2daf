/* The CUDA kernels of the bodies. */
#include "scans/cubes/order_body.h"
