/* Rows of the indexed side that have a partner, found without pairs: for semi and anti joins whose left side
 * is indexed. Each probe asks for the first row of its key, and these are marked: a key is marked once,
 * however many probes and rows it has. A row has a partner if the first row of its own key is marked. */
#ifndef KEYRAY_JOIN_PARTNERS_H
#define KEYRAY_JOIN_PARTNERS_H

#include "index/lookup/query.h"

typedef struct kr_partners {
    uint32_t *marks; /* a bitmap of the indexed rows */
    uint64_t n;      /* indexed rows */
} kr_partners;

/* No row is marked. The bitmap is scratch memory of the work. */
kr_partners kr_partners_make(kr_work *work, uint64_t n);
/* Marks the rows among n answers to ROW, of which others are KR_NO_ROW. Enqueues. */
void kr_partners_mark(kr_work *work, const kr_partners *p, const uint32_t *answers, uint64_t n);
/* Rows of the indexed column with a partner (wanted 1) or without (0), ascending, in scratch memory; *count
 * is how many there are. The column may be in host memory. Blocks. */
uint32_t *kr_partners_list(kr_work *work, const kr_partners *p, const kr_index *index,
                           const kr_column *indexed, int wanted, uint64_t *count);

#endif
