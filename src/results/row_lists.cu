/* The CUDA kernel of the body. */
#include "results/row_lists_body.h"
