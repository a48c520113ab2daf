/* The CUDA kernels of the bodies. */
#include "core/rows_body.h"
