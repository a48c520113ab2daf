/* The CUDA kernels of store.c at one key width. */
#include "search/store_body.h"
