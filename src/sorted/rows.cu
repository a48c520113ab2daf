/* The CUDA kernels of the bodies. */
#include "sorted/rows_body.h"
