/* The CUDA kernels of the bodies. A tile takes three reads that wait for each other, and little else: so many
 * tiles are under way at a time. */
#define KR_BLOCK_SIZE 256
#include "table/families/bindex/bindex_select_simd_body.h"
