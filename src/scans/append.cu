/* The CUDA kernel of the body. */
#include "scans/append_body.h"
