/* The CUDA kernels of the bodies. */
#include "core/partition_body.h"
