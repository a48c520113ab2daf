/* The CUDA kernels for many conditions. Of larger blocks, threads would not have the registers that they
 * need. */
#define KR_BLOCK_SIZE 640
#include "table/families/full/full_batch_simd_width_body.h"
