/* Narrow copies of columns whose values lie close together, which are read in their place. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_NARROW_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_NARROW_H

#include "table/family.h"

/* narrow=auto: of at most a quarter of a column's bytes; on: of at most half of them. */
enum { FULL_NARROW_AUTO, FULL_NARROW_ON, FULL_NARROW_OFF };

typedef struct full_narrow {
    kr_buffer buffer;         /* with room behind the last row after rows were appended */
    uint64_t lowest, highest; /* codes of all values of the column; lowest > highest: it has none */
    uint32_t nbytes;          /* of a value of the copy; 0: the column is read as it is */
} full_narrow;

/* Of a column that nothing is known of: it is read as it is, whatever is appended. */
static inline full_narrow full_narrow_unknown(void)
{
    return (full_narrow){.lowest = 0, .highest = UINT64_MAX};
}

/* The bytes of a value of the largest copy that a column of the type can have; 0: it has none. */
uint32_t full_narrow_most_nbytes(uint32_t narrow, uint32_t type);

/* Decides on a column, whose new rows have codes lowest .. highest, and makes or extends its copy. `before`:
 * NULL, or what there is of the first n_before rows. Memory that both then have (equal `buffer.data`) is of
 * the one that stays. */
void full_narrow_make(kr_work *work, uint32_t narrow, const kr_column *column, full_narrow *before,
                      uint64_t n_before, full_narrow *made);
/* Adds codes that a column has. */
void full_narrow_widen(full_narrow *of, uint64_t lowest, uint64_t highest);
/* 1: new rows decide nothing any more: the values lie too far apart. */
int full_narrow_is_settled(const full_narrow *of);

/* The column that is read: the copy, or the column as it is. */
kr_column full_narrow_column(const full_narrow *of, const kr_column *column);
void full_narrow_validate(kr_work *work, const char *name, const kr_column *column, const full_narrow *of);
void full_narrow_image(kr_image *image, const kr_column *column, uint64_t n, full_narrow *of);

/* The codes of a leaf among those of the column that is read for it: what else the leaf has does not occur.
 * Of a column without a copy, all of them. */
typedef struct full_codes {
    const kr_interval *at;
    uint64_t n;
    uint64_t lowest, highest; /* of the column as it is */
    uint64_t most;            /* the largest code of what is read */
} full_codes;

/* `of`: NULL, or of the leaf's column, which has this type. */
full_codes full_codes_of(const full_narrow *of, uint32_t type, const kr_leaf *leaf);
static inline kr_interval full_codes_at(const full_codes *codes, uint64_t i)
{
    const kr_interval at = codes->at[i];
    return (kr_interval){at.low > codes->lowest ? at.low - codes->lowest : 0,
                         at.high < codes->highest ? at.high - codes->lowest : codes->most};
}
/* Whether a code of what is read belongs to the leaf. */
int full_codes_hold(const full_codes *codes, uint64_t code);

#endif
