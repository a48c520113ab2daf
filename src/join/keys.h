/* Joins by several columns: the columns of a side become one key, or numbers (numbers.h). */
#ifndef KEYRAY_JOIN_KEYS_H
#define KEYRAY_JOIN_KEYS_H

#include "join/pairs.h"

enum { KR_BY_MOST = 8 }; /* columns that are asked for equality */

/* The columns of a side, in device memory. */
typedef struct keys_side {
    uint64_t n; /* rows */
    kr_resident columns[KR_BY_MOST + 1];
} keys_side;

/* A join by several columns under way. What its steps make is scratch memory of the work. */
typedef struct keyed {
    kr_work *work;
    kr_spec spec;
    uint32_t n;       /* columns of a side */
    uint32_t n_equal; /* the first of them: only compared for equality; the others keep order and distances */
    const char *help; /* what saves memory */
    keys_side left, right;
    uint64_t footprint_nbytes; /* of the largest index */
    char tracer[64];
} keyed;

void *keyed_take(const keyed *k, uint64_t nbytes, const char *what);
/* Brings `n` columns from `first` on to the device. keyed_release is due in any case. */
void keyed_bring(keyed *k, keys_side *side, const kr_column *columns, uint32_t first, uint32_t n,
                 const char *what);
void keyed_release(keyed *k);

/* Builds an index of `keys`, below 2^used_bits (0: nothing is known), and keeps account of it. Destroy it;
 * NULL after a failure. */
kr_index *keyed_index(keyed *k, const kr_column *keys, uint32_t used_bits);
/* out[i] := the row of `near`, NULL: of an equal key, for probe i. */
void keyed_locate(keyed *k, const kr_index *index, const kr_column *probes, const kr_nearby *near,
                  uint32_t *out);

/* All columns of each side as one key. */
typedef struct keys_folded {
    uint32_t bits;         /* that keys take; 0: more than 64, and nothing was made */
    uint32_t low_bits;     /* of the columns behind those that are asked for equality */
    kr_column left, right; /* of u32 or u64, without NULLs */
} keys_folded;

/* A row with a NULL, or, on the left, with values outside the range of the right side, gets a key that the
 * other side does not have. Blocks. */
keys_folded keys_fold_sides(keyed *k);

#endif
