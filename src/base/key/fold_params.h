/* What programs that fold columns are given (base/key/fold.h). */
#ifndef KEYRAY_BASE_KEY_FOLD_PARAMS_H
#define KEYRAY_BASE_KEY_FOLD_PARAMS_H

#include "base/program/lang.h"

enum { KR_FOLD_PARTS = 10 };

/* What number a code gets that no key has. */
enum {
    KR_FOLD_ONLY = 0,   /* none, and so the row has no key */
    KR_FOLD_LEAST = 1,  /* the least whose values are not below: for lower bounds */
    KR_FOLD_MOST = 2,   /* the largest whose values are not above: for upper bounds */
    KR_FOLD_NUMBER = 3, /* the bits of these */
    KR_FOLD_NOT_NAN = 4 /* and NaN has none */
};

/* A column's part of a key, from bit `shift` on. */
typedef struct kr_fold_part {
    const void *data;
    const uint8_t *validity;
    uint64_t validity_offset;
    uint64_t lowest, span; /* of codes: numbers are code - lowest, 0 .. span */
    uint64_t first;        /* numbers below it are none */
    const uint64_t *ranks; /* NULL, or n_ranks ascending codes: numbers are those below, and 1 */
    uint64_t n_ranks;
    uint32_t type, shift, how, reserved; /* KR_FOLD_* */
} kr_fold_part;
kr_assert_size(kr_fold_part, 80);

typedef struct kr_fold_job {
    void *out;
    uint8_t *flags;                    /* NULL, or 1 for rows with a key, else 0 */
    uint64_t *misfits;                 /* NULL, or a counter of rows without a NULL that have no key */
    uint64_t absent;                   /* the key of rows that have none */
    uint64_t fill;                     /* what the bits behind the last part are */
    uint32_t n_parts, out_type;        /* KR_U32 or KR_U64 */
    uint32_t goes_on;                  /* 1: rows whose flag is 0 have no key */
    uint32_t is_plain;                 /* 1: every row has a key; kr_fold_run sets it, and n */
    uint64_t n;                        /* rows */
    kr_fold_part parts[KR_FOLD_PARTS]; /* the first in the highest bits */
} kr_fold_job;
kr_assert_size(kr_fold_job, 64 + 80 * KR_FOLD_PARTS);

#endif
