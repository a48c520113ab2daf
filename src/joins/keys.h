/* Joins by several columns: the columns of a side become one key, or numbers (numbers.h). */
#ifndef KEYRAY_JOINS_KEYS_H
#define KEYRAY_JOINS_KEYS_H

#include "joins/pairs.h"

enum { KR_BY_MOST = 8 }; /* columns that are asked for equality */

/* The columns of a side, in device memory. */
typedef struct keys_side {
    uint64_t n; /* rows */
    kr_resident columns[KR_BY_MOST + 1];
} keys_side;

/* A join by several columns under way, all on the device's own stream. */
typedef struct keyed {
    kr_device *device;
    kr_spec spec;
    uint32_t n;       /* columns of a side */
    uint32_t n_equal; /* the first of them: only compared for equality; the others keep order and distances */
    const char *help; /* what saves memory */
    keys_side left, right;
    kr_stopwatch watch;
    uint64_t footprint_nbytes; /* of the largest index */
    char tracer[64];
} keyed;

kr_status keyed_allocate(const keyed *k, uint64_t nbytes, const char *what, kr_buffer *buffer, kr_error *err);
/* Brings `n` columns from `first` on to the device. */
kr_status keyed_bring(keyed *k, keys_side *side, const kr_column *columns, uint32_t first, uint32_t n,
                      const char *what, kr_error *err);
void keyed_release(keyed *k);

/* Builds an index of `keys`, below 2^used_bits (0: nothing is known), and keeps account of it. */
kr_status keyed_index(keyed *k, const kr_column *keys, uint32_t used_bits, kr_index **index, kr_error *err);
/* out[i] := the row of `near`, NULL: of an equal key, for probe i. */
kr_status keyed_locate(keyed *k, const kr_index *index, const kr_column *probes, const kr_nearby *near,
                       uint32_t *out, kr_error *err);

/* Bits that hold 0 .. largest. */
uint32_t keys_bits(uint64_t largest);

/* All columns of each side as one key. */
typedef struct keys_folded {
    uint32_t bits;     /* that keys take; 0: more than 64, and nothing was made */
    uint32_t low_bits; /* of the columns behind those that are asked for equality */
    kr_buffer left_data, right_data;
    kr_column left, right; /* of u32 or u64, without NULLs */
} keys_folded;

/* A row with a NULL, or, on the left, with values outside the range of the right side, gets a key that the
 * other side does not have. Blocks. Release what is made, also after a failure. */
kr_status keys_fold_sides(keyed *k, keys_folded *made, kr_error *err);
void keys_folded_release(const keyed *k, keys_folded *made);

#endif
