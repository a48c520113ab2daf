/* The programs for many conditions, for each instruction set. */
#include "scans/full/full_batch_body.h"
