/* Lookups in a table on the CPU. */
#include "hashed/find_body.h"
