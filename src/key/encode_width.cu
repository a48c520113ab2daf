/* The CUDA kernels of the bodies, at one key width. */
#include "key/encode_body.h"
