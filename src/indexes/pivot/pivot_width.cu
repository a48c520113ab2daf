/* The CUDA kernels of kind `pivot` at one key width. */
#include "indexes/pivot/pivot_body.h"
#include "indexes/pivot/pivot_build_body.h"
#include "indexes/pivot/pivot_rounds_body.h"
