/* Several columns as one key of 32 or 64 bits, which is in their order (base/key/fold.h): what an index over
 * them keeps, and joins use for a moment.
 *
 * Columns are placed on levels. While the ranges of all columns take at most 64 bits together, there is one
 * level, and numbers of columns are codes less the lowest. Where they take more, a column gives ranks among
 * the sorted codes of its values, which take 32 bits at most; and where that does not do, either, the keys of
 * the columns so far are one level, and their ranks among sorted keys are the first part of the next one.
 *
 * On each side of the values that have keys, a column's range has a margin, unless the type's values end
 * there. So values outside of the range get the number at its end, which no key has: they equal nothing, and
 * are bounds and neighbours like any other. */
#ifndef KEYRAY_INDEX_KINDS_COMPOSITE_H
#define KEYRAY_INDEX_KINDS_COMPOSITE_H

#include "base/image/image.h"
#include "base/key/fold.h"
#include "index/kinds/column.h"

/* Of an index; joins have as many groups, and a value. */
enum { KR_COMPOSITE_INDEXED = 8, KR_COMPOSITE_MOST = 9 };

struct kr_texts;

typedef struct kr_composite_column {
    uint64_t dictionary;
    struct kr_texts *texts; /* whose codes the values are, so that calls take texts; NULL: none */
    kr_type text_type;      /* of these; 0: none */
    uint64_t lowest, span;  /* of codes */
    uint64_t margin;        /* numbers at either end that no key has, but where the type's values end */
    kr_buffer ranks;        /* n_ranks codes that ascend; none: numbers are codes less the lowest */
    uint64_t n_ranks;
    uint32_t type, level, shift;
} kr_composite_column;

/* Before a level but the first: the sorted keys of the level before. */
typedef struct kr_composite_head {
    kr_buffer ranks;
    uint64_t n_ranks;
    uint32_t shift;
} kr_composite_head;

typedef struct kr_composite {
    uint32_t n, n_levels;
    uint32_t bits; /* of a key; its type is KR_U32 or KR_U64 */
    kr_type type;
    kr_composite_column columns[KR_COMPOSITE_MOST];
    kr_composite_head heads[KR_COMPOSITE_MOST]; /* of levels; that of the first is not used */
} kr_composite;

/* Where a column's values come from: columns of one type in device memory. */
typedef struct kr_composite_source {
    const kr_column *columns[4];
    uint32_t n;
} kr_composite_source;

/* Makes room for the values of n columns; keys of rows are those of columns[0] of each. Lists of ranks are
 * scratch memory of the work. `help` says what saves memory. Blocks. */
void kr_composite_make(kr_work *work, const kr_composite_source *sources, uint32_t n, const char *help,
                       kr_composite *made);
/* Lists outlive the work; or are given back to it; or, once they were kept, to the device. */
void kr_composite_keep(kr_work *work, kr_composite *composite);
void kr_composite_give_lists(kr_work *work, const kr_composite *composite);
void kr_composite_release(kr_device *device, kr_composite *composite, kr_stream *stream);
/* *shared becomes another of the same memory and dictionaries, which is released, too, also after a failure.
 */
kr_status kr_composite_share(kr_composite *composite, kr_composite *shared, kr_error *err);

/* ---- Keys --------------------------------------------------------------------------------------- */

/* Which keys are wanted of rows. */
typedef struct kr_composite_rows {
    const kr_column *columns; /* the first n of the composite's, in device memory, of one length */
    uint32_t n;
    uint32_t
        last; /* the last of them is KR_FOLD_ONLY: equal, as those before; or a lower or an upper bound */
    uint32_t fills;   /* 1: the columns behind them are as large as they can be, 0: as small */
    uint32_t not_nan; /* 1: a row with NaN in the last column has no key */
    uint32_t
        is_fixed; /* 1: to be indexed: a value that no key has room for has no key, and misfits are counted */
    uint64_t *misfits;
} kr_composite_rows;

/* Their keys; NULL where a row has none. Scratch memory. Enqueues. */
kr_column kr_composite_fold(kr_work *work, const kr_composite *composite, const kr_composite_rows *rows,
                            const char *help);
void kr_composite_give(kr_work *work, const kr_column *keys);

/* 1: column i gives codes less the lowest one, in the lowest bits of keys. */
int kr_composite_is_last(const kr_composite *composite, uint32_t i);
/* 1: values outside of the column's range are farther than `distance` from all that have keys. */
int kr_composite_has_margin(const kr_composite *composite, uint32_t i, uint64_t distance);
/* 1: numbers of the column are all of its type's codes. */
int kr_composite_is_whole(const kr_composite *composite, uint32_t i);

/* ---- Saving, checking ----------------------------------------------------------------------------- */

/* In a file that has no other fields of columns. LOAD: fills all but dictionaries that are the caller's; text
 * types are known already. */
void kr_composite_image(kr_image *image, kr_composite *composite);
/* Fails with KR_ERR_INVARIANT if a list of ranks does not ascend, or a dictionary is not whole. Blocks. */
void kr_composite_check(kr_work *work, const kr_composite *composite);
/* Of lists of ranks; of dictionaries. */
uint64_t kr_composite_nbytes(const kr_composite *composite);
uint64_t kr_composite_texts_nbytes(const kr_composite *composite);

#endif
