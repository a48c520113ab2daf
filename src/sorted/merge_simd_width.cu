/* The CUDA kernels that merge sorted entries at one key width. */
#include "sorted/merge_sorted_body.h"
