#include "indexes/cgrx/cgrx_walk_body.h"
