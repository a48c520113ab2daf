/* The programs of kind `full`, for each instruction set. */
#include "scans/full/full_body.h"
