/* The CPU form of the bodies, and the programs. */
#include "core/reduce_body.h"
