/* The CUDA kernel of the check at one key width. */
#include "hashed/check_body.h"
