/* The CUDA kernels of kind `array` at one key width. */
#include "indexes/array/array_body.h"
