/* What all joins share: what is asked of them, and the pairs of rows that are the answer. */
#ifndef KEYRAY_JOIN_PAIRS_H
#define KEYRAY_JOIN_PAIRS_H

#include "index/lookup/query.h"

struct kr_join {
    kr_device *device;
    kr_buffer left, right; /* uint32_t[info.pairs]; right: none for semi and anti joins */
    kr_phases phases;
    kr_join_info info;
};

/* A checked join: on equal values, or with ranges on one side, whose lower bounds are `right` or `left`. */
typedef struct kr_join_job {
    const char *spec;
    const kr_column *left, *right;
    const kr_column *right_upper; /* NULL, or the upper bounds of right ranges */
    const kr_column *left_upper;  /* NULL, or those of left ranges, which need right_index */
    const kr_index *right_index;  /* NULL, or the right side, instead of spec and right */
    kr_join_type type;
    kr_join_inverse index_side; /* ON: the left side is indexed, OFF: the right one, AUTO: the cheaper one */
    int may_merge;              /* 1: nothing is indexed if both sides can be read in order */
    int unordered;
    uint32_t used_bits; /* codes of both sides are below 2^used_bits; 0: nothing is known */
} kr_join_job;

/* 1: pairs of a value and a range that holds it; 0: of equal values. */
static inline int kr_join_has_ranges(const kr_join_job *job)
{
    return job->left_upper || job->right_upper;
}

/* 1: rows of both sides; 0: left rows only. */
static inline int kr_join_has_pairs(kr_join_type type)
{
    return type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
}

/* Of a join of left rows only: 1: those with a partner, 0: those without one. */
static inline int kr_join_wants_partner(kr_join_type type)
{
    return type == KR_JOIN_SEMI;
}

/* 1: rows of that side without a partner make a pair, too. */
static inline int kr_join_keeps_left(kr_join_type type)
{
    return type == KR_JOIN_LEFT || type == KR_JOIN_FULL;
}

static inline int kr_join_keeps_right(kr_join_type type)
{
    return type == KR_JOIN_RIGHT || type == KR_JOIN_FULL;
}

/* Fails if a side has more rows than row ids can name; `other` may be NULL. `help` says what to do. */
void kr_join_check_rows(kr_work *work, const kr_column *side, const kr_column *other, const char *help);
/* What to do where the rows of a join take too much memory. */
#define KR_JOIN_SMALLER "join a smaller side, or use a semi or anti join or kr_join_chunks"
/* Gives back what kr_column_bring copied of a caller's column, if it did. */
void kr_join_give_column(kr_work *work, const kr_column *column);
/* Memory for n rows of the result. */
uint32_t *kr_join_take(kr_work *work, uint64_t n, const char *what);
/* Sorts n pairs by `keys`, rows below `rows` or KR_NO_ROW; stable. Gives both back and puts others there. */
void kr_join_sort(kr_work *work, uint64_t rows, uint32_t **keys, uint32_t **others, uint64_t n);
/* Pairs of n rows without a partner: copies them to `rows` and writes KR_NO_ROW to `partners`. Enqueues. */
void kr_join_write_alone(kr_work *work, const uint32_t *alone, uint64_t n, uint32_t *rows,
                         uint32_t *partners);
/* From here on laps of the work are phases of a join, until kr_join_unwatch adds them to it. */
void kr_join_watch(kr_work *work, kr_stopwatch *watch);
void kr_join_unwatch(kr_work *work, kr_join *join);
/* Steps that make the columns of a join: their phases and memory count as its own. In between the join runs,
 * which has a watch and a peak for itself. */
typedef struct kr_join_before {
    kr_stopwatch watch;
    kr_peak peak;
} kr_join_before;
void kr_join_before_begin(kr_work *work, kr_join_before *before);
void kr_join_before_pause(kr_work *work, kr_join *join);
void kr_join_before_end(kr_work *work, kr_join_before *before, kr_join *join);

/* The last step of a join: its result, which outlives the work. Blocks. */
void kr_join_keep(kr_work *work, kr_join *join, const uint32_t *left, const uint32_t *right, uint64_t n);

#endif
