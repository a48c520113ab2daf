/* Blocks are warps: most long texts have work for few threads. */
#define KR_BLOCK_SIZE 32
#include "index/texts/long_body.h"
