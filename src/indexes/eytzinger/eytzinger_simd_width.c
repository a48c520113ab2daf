/* The searches and updates of kind `eytzinger` at one key width and one instruction set. */
#include "indexes/eytzinger/eytzinger_body.h"
#include "indexes/eytzinger/eytzinger_merge_body.h"
