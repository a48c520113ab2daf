/* Filter vectors of a column: bitmaps of the rows whose value is not above a limit. With vectors at limits
 * a < b < c, the rows between two limits are the difference of two vectors. */
#ifndef KEYRAY_TABLE_FAMILIES_VECTORS_VECTORS_H
#define KEYRAY_TABLE_FAMILIES_VECTORS_VECTORS_H

#include "base/image/image.h"
#include "base/key/codes.h"

enum { KR_VECTORS_MOST = 1024 };

/* Bit r of vector v: row r is not NULL, and its code is at most limits[v]. Bits past the last row are 0. */
typedef struct kr_vectors {
    kr_buffer words;
    uint64_t stride; /* words from a vector to the next: a multiple of 32 */
    uint32_t n;
} kr_vectors;

static inline const uint32_t *kr_vectors_at(const kr_vectors *vectors, uint32_t v)
{
    return (const uint32_t *)vectors->words.data + v * vectors->stride;
}

uint64_t kr_vectors_nbytes(uint64_t n_rows, uint32_t n);
/* Scratch memory of kr_vectors_make: its limits. */
uint64_t kr_vectors_scratch(uint32_t n);

/* The column is in device memory; limits are codes, ascending, in host memory. Enqueues. */
kr_vectors kr_vectors_make(kr_work *work, const kr_column *column, const uint64_t *limits, uint32_t n);
void kr_vectors_release(kr_device *device, kr_vectors *vectors, kr_stream *stream);
/* Those of n limits and n_rows rows. */
void kr_vectors_image(kr_image *image, uint64_t n_rows, uint32_t n, kr_vectors *vectors);
/* Compares every bit with the column. 0, or a row with a wrong bit plus 1. Blocks. */
uint64_t kr_vectors_check(kr_work *work, const kr_column *column, const uint64_t *limits,
                          const kr_vectors *vectors);

/* ---- Where limits are ------------------------------------------------------------------------ */

/* `rank` rows have codes up to `limit`. */
typedef struct kr_border {
    uint64_t limit, rank;
} kr_border;

/* Borders that cut n sorted codes in k bins of about one size: those at i n / k, each moved
 * to the nearer end of the equal codes that it would cut. Those that fall together, before all rows or behind
 * them are left out. `borders` has room for k - 1; returns how many there are. Blocks. */
uint32_t kr_borders_choose(kr_work *work, const kr_codes *codes, uint32_t k, kr_border *borders);
/* Its scratch memory. */
uint64_t kr_borders_scratch(uint64_t n, uint32_t k);

#endif
