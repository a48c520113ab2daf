/* Rows of the indexed side that have a partner, found without pairs: for semi and anti joins whose left side
 * is indexed. Each probe asks for the first row of its key, and these are marked: a key is marked once,
 * however many probes and rows it has. A row has a partner if the first row of its own key is marked. */
#ifndef KEYRAY_JOIN_PARTNERS_H
#define KEYRAY_JOIN_PARTNERS_H

#include "index/lookup/query.h"

typedef struct kr_partners {
    uint32_t *marks; /* a bitmap of the indexed rows */
} kr_partners;

/* No row is marked. The bitmap is scratch memory of the work. */
kr_partners kr_partners_make(kr_work *work, uint64_t n);
/* Marks the rows among n answers to ROW, of which others are KR_NO_ROW. Enqueues. */
void kr_partners_mark(kr_work *work, const kr_partners *p, const uint32_t *answers, uint64_t n);
/* Some rows of the indexed column, from a multiple of 64 on. */
typedef struct kr_partners_part {
    kr_column rows; /* may be in host memory */
    uint64_t first;
    int wanted; /* 1: those with a partner, 0: those without */
} kr_partners_part;

/* Which of these rows are wanted, ascending and counted from the first of them, in scratch memory; *count is
 * how many there are. Blocks. */
uint32_t *kr_partners_list(kr_work *work, const kr_partners *p, const kr_index *index,
                           const kr_partners_part *part, uint64_t *count);

#endif
