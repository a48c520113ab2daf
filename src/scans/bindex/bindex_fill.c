#include "scans/bindex/bindex_fill_body.h"
