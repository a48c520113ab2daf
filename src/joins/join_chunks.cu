/* The CUDA kernels of join_chunks.c. */
#include "joins/join_chunks_body.h"
