/* What a family answers, and how the rows behind an answer are read.
 *
 * A match is {where, count}. Only the family's own code interprets `where`. The rows of a match
 * are numbered 0 .. count - 1. Families whose entries are ordered number them by (key, row id), the others
 * number the rows of one key in ascending order.
 *
 * A *walk* reads rows by number. It sees neither keys nor probes, so it is compiled once and not once per
 * width. It opens anywhere in a match, in at most logarithmic time; so slices of a match, groups of threads,
 * row lists, chunks and cancelling work for every family. Where row j of a match simply lies at where + j,
 * index/results/dense.h has the walk; a family brings one of its own with index/results/walk_programs.h. */
#ifndef KEYRAY_INDEX_RESULTS_MATCH_H
#define KEYRAY_INDEX_RESULTS_MATCH_H

#include "base/program/program.h"

typedef struct kr_match {
    uint32_t where, count;
} kr_match;
kr_assert_size(kr_match, 8);

/* The input of a walk: words that only the family's own functions read. */
typedef struct kr_view {
    uint64_t words[8];
} kr_view;

KR_BOTH kr_view kr_match_view_of(const void *view, uint64_t nbytes)
{
    kr_view words = {{0}};
    kr_copy_bytes(&words, view, nbytes);
    return words;
}

/* Where the answer to match i goes; order NULL: to i. */
KR_BODY uint64_t kr_answer_place(const uint32_t *order, uint64_t i)
{
    return order ? kr_load(order + i) : i;
}

/* Reductions of the rows of a match. Float sums are kept as a double's bits. */
enum {
    KR_REDUCE_MIN_ROW,
    KR_REDUCE_SUM_ROWS,
    KR_REDUCE_SUM_INTEGERS, /* modulo 2^64 */
    KR_REDUCE_SUM_WIDE,     /* of integers, 128 bits */
    KR_REDUCE_SUM_FLOATS,
    KR_REDUCE_MIN,
    KR_REDUCE_MAX,
    KR_REDUCTIONS
};

/* The programs of a walk; index/results/walk_programs.h makes them. */
typedef struct kr_walk {
    const char *name;
    const kr_program *reduce[KR_REDUCTIONS]; /* reduce_params */
    const kr_program *copy;                  /* copy_params */
    const kr_program *sum_runs;              /* runs_params */
    /* Over all slots of an index: held_params. */
    const kr_program *most, *mark, *list;
} kr_walk;

/* How the rows of an index are read. */
typedef struct kr_rows {
    const kr_walk *walk;
    const kr_walk *any_order; /* or NULL: faster, in another order of a match's rows: for reductions */
    kr_view view;             /* of both walks */
    uint64_t n_rows;          /* of the index */
    uint64_t n_slots;         /* slots 0 .. n_slots - 1 hold each row once; empty ones hold KR_NO_ROW */
    uint32_t by_one;          /* 1: one thread reads a match, however long it is */
} kr_rows;

#endif
