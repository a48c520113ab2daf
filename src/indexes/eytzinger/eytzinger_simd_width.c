/* The searches of kind `eytzinger` at one key width and one instruction set. */
#include "indexes/eytzinger/eytzinger_body.h"
