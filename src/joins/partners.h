/* Rows of the indexed side that have a partner, found without pairs: for semi and anti joins whose left side
 * is indexed. Each probe asks for the first row of its key, and these are marked: a key is marked once,
 * however many probes and rows it has. A row has a partner if the first row of its own key is marked. */
#ifndef KEYRAY_JOINS_PARTNERS_H
#define KEYRAY_JOINS_PARTNERS_H

#include "lookup/query.h"

typedef struct kr_partners {
    kr_device *device;
    kr_buffer marks; /* a bitmap of the indexed rows */
    uint64_t n;      /* indexed rows */
} kr_partners;

/* No row is marked; kr_partners_close is due in any case. */
kr_status kr_partners_open(kr_partners *p, kr_device *device, uint64_t n, kr_error *err);
/* Marks the rows among n answers to ROW, of which others are KR_NO_ROW. Enqueues. */
kr_status kr_partners_mark(const kr_partners *p, const uint32_t *answers, uint64_t n, kr_stream *stream,
                           kr_error *err);
/* Allocates `rows` for those of the indexed column with a partner (wanted 1) or without (0), ascending. The
 * column may be in host memory. Blocks. */
kr_status kr_partners_list(const kr_partners *p, const kr_index *index, const kr_column *indexed, int wanted,
                           kr_buffer *rows, uint64_t *count, kr_error *err);
void kr_partners_close(kr_partners *p);

#endif
