/* The searches of kind `pivot` at one key width and in one instruction set. */
#include "indexes/pivot/pivot_body.h"
#include "indexes/pivot/pivot_rounds_body.h"
