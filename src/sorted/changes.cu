/* The CUDA kernels of the bodies. */
#include "sorted/changes_body.h"
