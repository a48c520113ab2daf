#include "indexes/eytzinger/eytzinger_ranks_body.h"
