/* The CUDA kernel of the body. */
#include "scans/delete_body.h"
