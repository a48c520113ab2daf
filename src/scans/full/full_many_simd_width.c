/* The programs for many conditions, for each instruction set. */
#include "scans/full/full_many_body.h"
