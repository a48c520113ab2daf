/* AND and OR above leaves as a list of folds, for programs that keep the truth of each leaf, or of a lane of
 * leaves, in a place of its own. */
#ifndef KEYRAY_TABLE_CONDITION_FOLD_H
#define KEYRAY_TABLE_CONDITION_FOLD_H

#include "base/program/lang.h"
#include "table/condition/plan.h"

/* Place `to` becomes the AND or the OR of `to` and `from`; both are below 256. */
enum { KR_FOLD_AND, KR_FOLD_OR };
KR_BOTH uint32_t kr_plan_fold_of(uint32_t op, uint32_t to, uint32_t from)
{
    return op << 16 | to << 8 | from;
}

#define KR_NO_PLACE 0xFFFFFFFFu

/* Adds the folds of a plan, in order, and returns the place of the result. places: of each node, where its
 * leaves are; KR_NO_PLACE for a leaf that its parent has, and for a node without leaves of its own, which
 * gets that of its first operand. */
uint32_t kr_plan_fold(const kr_plan *plan, uint32_t *places, uint32_t *folds, uint32_t *n_folds);

#endif
