/* Which side of a join is indexed, and with what kind: first by the numbers of rows alone, then, where the
 * spec is "best", by a look at the columns that may be indexed. */
#ifndef KEYRAY_JOIN_SIDE_H
#define KEYRAY_JOIN_SIDE_H

#include "index/kinds/index.h"
#include "index/kinds/look.h"
#include "join/cost.h"
#include "join/pairs.h"

typedef struct kr_join_side {
    kr_spec spec;
    int is_left;           /* 1: the left side is indexed, 0: the right one */
    const char *looks_for; /* "best": its keys decide in the build; NULL: the spec is as it stays */
    kr_look near;          /* n > 0: no index is made, but bits of these values (join/bits.h) */
    kr_join_shape shape;   /* what costs were counted of */
} kr_join_side;

/* By the numbers of rows. Fills spec, device, indexed and the costs of *info. */
kr_join_side kr_join_decide(kr_work *work, const kr_join_job *job, kr_join_info *info);
/* The same by the columns, which changes *side and *info. It reads a column only if it may be the one that is
 * indexed in the end. Columns of right ranges are not looked at: they are indexed as they were. Of semi and
 * anti joins, for which `may_mark` allows bits in place of an index, it looks for a side that is near.
 * Blocks. */
void kr_join_look(kr_work *work, const kr_join_job *job, int may_mark, kr_join_side *side,
                  kr_join_info *info);

/* The index of the column of that side; NULL after a failure: release it. Notes its spec in *info. */
kr_index *kr_join_build(kr_work *work, const kr_join_job *job, const kr_join_side *side, kr_join_info *info);

#endif
