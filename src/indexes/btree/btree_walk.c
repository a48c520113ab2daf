#include "indexes/btree/btree_walk_body.h"
