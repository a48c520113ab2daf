/* All row ids of an index, whatever its family. */
#ifndef KEYRAY_INDEX_RESULTS_ROW_IDS_H
#define KEYRAY_INDEX_RESULTS_ROW_IDS_H

#include "base/devices/work.h"
#include "index/results/match.h"

typedef struct kr_rows_summary {
    uint64_t end;   /* one more than the largest row id, 0 when there is none */
    uint64_t count; /* row ids other than KR_NO_ROW */
} kr_rows_summary;

enum { KR_ROWS_COUNTERS = 2 };

/* `counters` has room for KR_ROWS_COUNTERS, so nothing is allocated. Blocks. */
kr_rows_summary kr_row_ids_summarize(kr_work *work, const kr_rows *rows, uint64_t *counters);

/* The rows of an index in n parts. KR_ERR_INVARIANT unless there are as many row ids as n_rows says, and all
 * are distinct, if that is asked. Blocks. */
kr_rows_summary kr_row_ids_check_all(kr_work *work, const kr_rows *rows, uint32_t n, int distinct);

/* found[0]: ids that are not above the one before; found[1]: ids that are KR_NO_ROW. Blocks. */
void kr_row_ids_check(kr_work *work, const uint32_t *ids, uint64_t n, uint64_t found[2]);

#endif
