/* Joins by ranges and of intervals whose rows must also be equal in other columns, their groups: groups and
 * values become one key of each side, so that a value of one group is never between two of another one. */
#ifndef KEYRAY_JOIN_GROUPS_H
#define KEYRAY_JOIN_GROUPS_H

#include "index/kinds/composite.h"
#include "join/pairs.h"

enum { KR_GROUPS_MOST = 8 };

/* Columns that must be equal, n of each side. */
typedef struct kr_join_groups {
    const kr_column *left, *right;
    uint32_t n;
} kr_join_groups;

/* What becomes of a column of values: those of the left side, and those of the right one. */
typedef struct kr_grouped {
    const kr_column *values;
    uint32_t is_left, is_upper; /* is_upper: of bounds; all that is not above is within it */
    kr_column keys;             /* scratch memory of the work */
} kr_grouped;

/* Fills the keys of n columns of values, one of each side at least, all of one type. NaN is NULL if
 * `not_nan`. Keys are below 2^bits, which it returns: 0 after a failure. Blocks. */
uint32_t kr_join_fold_groups(kr_work *work, const kr_join_groups *groups, kr_grouped *columns, uint32_t n,
                             int not_nan);

#endif
