/* What all joins share: what is asked of them, and the pairs of rows that are the answer. */
#ifndef KEYRAY_JOINS_PAIRS_H
#define KEYRAY_JOINS_PAIRS_H

#include "lookup/query.h"

struct kr_join {
    kr_device *device;
    kr_buffer left, right; /* uint32_t[info.pairs]; right: none for semi and anti joins */
    kr_phases phases;
    kr_join_info info;
};

/* A checked join. upper NULL: equality; else the end of each right range, or, with a prepared side, of each
 * left one. */
typedef struct kr_join_job {
    kr_device *device;
    const char *spec;
    const kr_column *left, *right, *upper;
    const kr_index *prepared; /* the right side, instead of spec and right */
    kr_join_type type;
    kr_join_inverse inverse;
    int unordered;
    uint32_t used_bits; /* codes of both sides are below 2^used_bits; 0: nothing is known */
} kr_join_job;

/* 1: rows of both sides; 0: left rows only. */
static inline int kr_join_has_pairs(kr_join_type type)
{
    return type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
}

/* Fails if a side has more rows than row ids can name; `other` may be NULL. `help` says what to do. */
kr_status kr_join_check_rows(const kr_column *side, const kr_column *other, const char *help, kr_error *err);
/* Memory for n rows of the result. */
kr_status kr_join_allocate(kr_device *device, uint64_t n, const char *what, kr_buffer *buffer, kr_error *err);
/* Sorts n pairs by `keys`, rows below `rows` or KR_NO_ROW; stable. */
kr_status kr_join_sort(kr_device *device, uint64_t rows, kr_buffer *keys, kr_buffer *others, uint64_t n,
                       kr_error *err);
/* Pairs of n rows without a partner: copies them to `rows` and writes KR_NO_ROW to `partners`. Enqueues. */
kr_status kr_join_write_alone(kr_device *device, const kr_buffer *alone, uint64_t n, uint32_t *rows,
                              uint32_t *partners, kr_error *err);

#endif
