/* The searches of kind `btree` at one key width and in one instruction set. */
#include "indexes/btree/btree_body.h"
#include "indexes/btree/btree_rounds_body.h"
