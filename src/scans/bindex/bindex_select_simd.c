#include "scans/bindex/bindex_select_body.h"
