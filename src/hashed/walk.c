/* The walk of tables on the CPU. */
#include "hashed/walk_body.h"
