/* Columns for tests, in host memory. */
#ifndef KEYRAY_TESTS_COLUMNS_H
#define KEYRAY_TESTS_COLUMNS_H

#include "random.h"
#include "values.h"

typedef enum kr_pattern {
    KR_PATTERN_RANDOM, /* any bits */
    KR_PATTERN_DENSE,  /* 0, 1, 2, ... shuffled */
    KR_PATTERN_DUPLICATES,
    KR_PATTERN_EQUAL,
    KR_PATTERN_EXTREME,
    KR_PATTERN_ASCENDING,
    KR_PATTERN_DESCENDING,
    KR_PATTERN_ROWS, /* the float limits: neighbours around 2^22, 2^23, 2^24, 2^46, ends of rows and planes */
    KR_PATTERN_ENDS, /* the first and last keys of few rows and planes of 23, 23 and 18 bits, in long runs of
                      * equal ones */
    /* Codes up to the largest that 23 and 29 bits hold, including both ends; OVER: also one above. */
    KR_PATTERN_BITS_23,
    KR_PATTERN_BITS_23_OVER,
    KR_PATTERN_BITS_29,
    KR_PATTERN_BITS_29_OVER,
    KR_PATTERN_SUMMABLE /* values whose float sums are exact, with a NaN, an infinity and a -0 now and then */
} kr_pattern;

typedef enum kr_nulls {
    KR_NULLS_NONE,   /* no bitmap */
    KR_NULLS_NO_ROW, /* a bitmap without a zero */
    KR_NULLS_SOME,
    KR_NULLS_SLICED, /* some, and a bitmap that begins at a bit that is not a multiple of 8 */
    KR_NULLS_ALL
} kr_nulls;

typedef enum kr_row_ids {
    KR_ROW_IDS_POSITIONS, /* none are given */
    KR_ROW_IDS_ASCENDING, /* with gaps */
    KR_ROW_IDS_SHUFFLED,  /* a permutation of the positions */
    KR_ROW_IDS_SPARSE,    /* shuffled, with gaps */
    KR_ROW_IDS_HIGH       /* shuffled, the highest that are legal; no column of values reaches them */
} kr_row_ids;

/* Where keys of 32 and 64 bits lie: for kinds that hold no others, within KR_NEAR_VALUES of each other.
 * Narrower types and floats are as they are. */
typedef enum kr_keys_lie {
    KR_KEYS_ANYWHERE,
    KR_KEYS_AT_ZERO,  /* those of signed types around it */
    KR_KEYS_AT_START, /* the lowest of the type */
    KR_KEYS_AT_END    /* the highest */
} kr_keys_lie;
enum { KR_NEAR_VALUES = 50000 };

/* For the columns that this thread makes from now on; returns what was said before. */
kr_keys_lie kr_test_keys_lie(kr_keys_lie where);
kr_keys_lie kr_test_keys_lie_now(void);
/* The code itself, or one that lies where keys are to. */
uint64_t kr_test_near_code(kr_type type, uint64_t code);

/* Owns its memory. The bytes of NULL rows are random: they must not matter. */
typedef struct kr_test_column {
    kr_column view;
    void *data;
    uint8_t *validity;
} kr_test_column;

/* All of these exit if memory runs out: a test could not go on. */
kr_test_column kr_test_column_make(kr_type type, uint64_t count, kr_pattern pattern, kr_nulls nulls,
                                   uint64_t seed);
void kr_test_column_free(kr_test_column *column);

/* Zeroed memory of at least one byte. */
void *kr_test_calloc(uint64_t n, uint64_t each);

/* NULL for positions. */
uint32_t *kr_test_row_ids(kr_row_ids what, uint64_t count, uint64_t seed);

/* Probes: existing keys, neighbours of keys, extremes and random values. */
kr_test_column kr_test_probes(const kr_column *keys, uint64_t count, kr_nulls nulls, uint64_t seed);
/* Bounds: most ranges span a few keys of `sorted` (the rows of `keys` in order), one spans all, some are
 * empty or have lower > upper. Where there are few keys, some span whole rows and planes of 2^23 and 2^46
 * codes, around 1024 of them at a time, or anything. */
void kr_test_ranges(const kr_column *keys, const uint32_t *sorted, uint64_t n_sorted, uint64_t count,
                    kr_nulls nulls, uint64_t seed, kr_test_column *lower, kr_test_column *upper);

#endif
