/* The CUDA kernels of the bodies. */
#include "results/row_ids_body.h"
