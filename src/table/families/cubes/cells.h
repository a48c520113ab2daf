/* Cells: the values of a column as integers below CUBES_CELLS, in the order of the values. They are the
 * coordinates of rows in a scene.
 *
 * Encoded, cells hold equally many rows: row number r in the order of the values is in cell r >> low_bits.
 * Equal values spread over as many cells as they need; `marks`, the mapping table, has the first code of each
 * cell. Not encoded, cells are equal ranges of codes between the lowest and the highest. NULLs have cells of
 * their own behind all others. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_CELLS_H
#define KEYRAY_TABLE_FAMILIES_CUBES_CELLS_H

#include "table/families/vectors/vectors.h"

/* With so many cells half a cell is 32 steps of a float at the far end of a scene. */
enum { CUBES_CELL_BITS = 18, CUBES_CELLS = 1 << CUBES_CELL_BITS };

typedef struct cubes_cells {
    uint64_t *marks;          /* n, or NULL: not encoded */
    uint64_t lowest, highest; /* codes; of no value: 1 and 0 */
    uint64_t n_valid;
    double scale;     /* not encoded: cells for a code */
    uint32_t n;       /* cells of values */
    uint32_t n_nulls; /* cells of NULLs, which follow */
    uint32_t low_bits;
} cubes_cells;

/* The cells first .. last; none if first > last. */
typedef struct cubes_span {
    int32_t first, last;
} cubes_span;

static inline uint32_t cubes_span_count(cubes_span span)
{
    return span.first > span.last ? 0 : (uint32_t)(span.last - span.first) + 1;
}

/* The cells that hold the codes low .. high. Cells between the first and the last hold no others. */
cubes_span cubes_cells_of(const cubes_cells *cells, uint64_t low, uint64_t high);
static inline cubes_span cubes_cells_of_nulls(const cubes_cells *cells)
{
    return (cubes_span){(int32_t)cells->n, (int32_t)(cells->n + cells->n_nulls) - 1};
}

/* ---- Making them ----------------------------------------------------------------------------- */

/* Where cells are written: bits shift .. shift + CUBES_FIELD - 1 of the row's record, and, unless low_shift
 * is 0, the low_bits lowest bits of its number at low_shift. The bits are 0 before. */
enum { CUBES_FIELD = 20, CUBES_PLACES_MOST = 8 };
typedef struct cubes_place {
    uint64_t *records;
    uint32_t shift, low_shift;
} cubes_place;

typedef struct cubes_cells_job {
    const kr_column *column; /* in device memory */
    uint32_t encode;
    uint32_t shuffles_ties; /* 1: among the ranks of a value rows lie in another order on each axis but the
                               first */
    uint32_t bins;          /* of which limits are wanted */
    uint32_t by_values;     /* 1: of values that are not encoded */
    uint32_t n_places;
    cubes_place places[CUBES_PLACES_MOST];
} cubes_cells_job;

/* Fills `limits` (room for bins - 1) with codes that cut the column in bins of about the same number of rows;
 * of cells, if they are by values. Blocks. */
void cubes_cells_make(kr_work *work, const cubes_cells_job *job, cubes_cells *cells, uint64_t *limits,
                      uint32_t *n_limits);
void cubes_cells_release(cubes_cells *cells);
/* Of a column of n_rows. */
void cubes_cells_image(kr_image *image, uint64_t n_rows, uint32_t encode, cubes_cells *cells);
/* Whether codes are in the order that searches among them take for granted; limits, too. */
int cubes_cells_ascend(const cubes_cells *cells, const uint64_t *limits, uint32_t n_limits);
/* Scratch memory of cubes_cells_make, of whose job only the places may be missing. */
uint64_t cubes_cells_scratch(kr_device *device, const cubes_cells_job *job);
/* Compares the cells of a place, whose records are now those of `rows`, with the column. 0, or a row in a
 * wrong cell plus 1. Blocks. */
uint64_t cubes_cells_check(kr_work *work, const kr_column *column, const cubes_cells *cells,
                           const cubes_place *place, const uint32_t *rows);

#endif
