/* The smallest row ids of wide matches whose rows are numbered by key: ranges with a limit, KR_ORDER_ROW. */
#ifndef KEYRAY_INDEX_LOOKUP_LIMIT_H
#define KEYRAY_INDEX_LOOKUP_LIMIT_H

#include "index/lookup/query.h"

/* Whether a query needs this; other queries with a limit read the first rows of a match. */
int kr_limit_gathers(const kr_query *query);

/* kr_matches_copy for such a query: gathers all rows of a few probes at a time, in order, and copies the
 * first of each. Blocks. */
void kr_limit_copy(kr_work *work, const kr_query *query, const kr_matches *matches,
                   const kr_matches_copy_job *part);

#endif
