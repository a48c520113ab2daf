/* The CUDA kernels of the bodies. */
#include "sorted/set_keys_body.h"
