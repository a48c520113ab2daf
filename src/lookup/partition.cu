/* The CUDA kernels of the bodies. */
#include "lookup/partition_back.h"
