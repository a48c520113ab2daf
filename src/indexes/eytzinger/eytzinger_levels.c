#include "indexes/eytzinger/eytzinger_levels_body.h"
