/* The body of index.c. */
#ifndef KEYRAY_INDEX_KINDS_INDEX_BODY_H
#define KEYRAY_INDEX_KINDS_INDEX_BODY_H

#include "base/program/program.h"
#include "index/kinds/batch.h"

typedef struct last_null_params {
    const uint8_t *validity;
    uint64_t *last; /* one more than the position of the last NULL, or 0 */
    uint64_t offset;
} last_null_params;
kr_assert_size(last_null_params, 24);

KR_BODY void index_note_null(kr_group group, const last_null_params *p, uint64_t i, uint64_t n)
{
    kr_group_max64(group, i < n && !kr_code_is_valid(p->validity, p->offset, i) ? i + 1 : 0, p->last);
}
KR_GROUP_PROGRAM(index_last_null, last_null_params, index_note_null);

#endif
