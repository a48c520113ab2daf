/* Sorted (key, row id) columns, which most families are built on. Keys are codes (base/key/key.h) in
 * ascending order, row ids ascend within equal keys, NULL rows are left out. Row ids that are consecutive in
 * this order, as those of a column whose values ascend, need not be kept. */
#ifndef KEYRAY_INDEX_SORTED_SORTED_H
#define KEYRAY_INDEX_SORTED_SORTED_H

#include "base/key/codes.h"
#include "index/kinds/family.h"
#include "index/sorted/entries.h"
#include "index/sorted/rows.h"

typedef struct kr_sorted {
    kr_buffer keys; /* uint32_t or uint64_t[n] */
    kr_buffer
        rows; /* uint32_t[n]; of kr_sorted_build_clustered: empty if they are first_row, first_row + 1, ... */
    uint64_t n;
    uint64_t lowest, highest; /* codes of the first and the last key; 0 when n is 0 */
    uint32_t first_row;       /* where there are no rows */
} kr_sorted;

static inline kr_codes kr_sorted_as_codes(const kr_sorted *sorted, uint32_t type)
{
    const kr_codes codes = {sorted->keys.data, sorted->n, kr_type_key_bits(type), 0};
    return codes;
}

/* What a work makes is its scratch memory until it is kept; then kr_sorted_release releases it. */
kr_sorted kr_sorted_take(kr_work *work, uint64_t n, uint32_t key_bits); /* room for n, ends are 0 */
void kr_sorted_give(kr_work *work, const kr_sorted *sorted);
void kr_sorted_keep(kr_work *work, kr_sorted *sorted);
void kr_sorted_release(kr_device *device, kr_sorted *sorted, kr_stream *stream);

/* The key width follows from the type of the column. */
kr_sorted kr_sorted_build(kr_work *work, const kr_build *build);
/* The same for families that need no row ids where these are consecutive. */
kr_sorted kr_sorted_build_clustered(kr_work *work, const kr_build *build);

/* What is sorted: the rows of a column without NULLs, in ascending order of their row ids, and their codes.
 */
typedef struct kr_coded {
    kr_row_list list;
    const void *keys; /* codes, or hashes */
    void *made;       /* NULL: `keys` is the column itself, or where the caller wants hashes */
} kr_coded;
kr_coded kr_sorted_codes(kr_work *work, const kr_build *build);
void kr_sorted_codes_give(kr_work *work, const kr_coded *codes);
/* kr_sorted_build from there on; gives the codes back. */
kr_sorted kr_sorted_build_codes(kr_work *work, const kr_build *build, const kr_coded *codes);
/* Bytes of kr_sorted_codes; *peak_nbytes: the most while it makes them. */
uint64_t kr_sorted_estimate_codes(const kr_shape *shape, uint64_t *peak_nbytes);

/* Row ids first, first + 1, ... in memory of the work. */
kr_buffer kr_sorted_number(kr_work *work, uint32_t first, uint64_t n);
/* The row id of the first entry, if those of all n are consecutive; else KR_NO_ROW. Blocks. */
uint32_t kr_sorted_first_row(kr_work *work, const uint32_t *rows, uint64_t n);
/* The same without the ends, in the order of kr_mix(code, *seed) (base/key/hash.h) where `seed` is not NULL:
 * then `keys` holds these hashes instead of codes. */
kr_sorted kr_sorted_sort(kr_work *work, const kr_build *build, const uint64_t *seed);
/* Where the hashes of a column go, unsorted: device memory with room for one of each of its rows. */
typedef struct kr_listed {
    void *keys;
    uint32_t *rows;
    uint64_t n; /* out: rows without NULLs */
} kr_listed;

/* The hashes of the same rows in ascending order of their row ids. */
void kr_sorted_list(kr_work *work, const kr_build *build, uint64_t seed, kr_listed *listed);
void kr_sorted_estimate(const kr_shape *shape, kr_need *estimate);
/* Fills lowest and highest. Blocks. */
void kr_sorted_read_ends(kr_work *work, uint32_t key_bits, kr_sorted *sorted);

/* The same rows, some of them with other keys. Fails with KR_ERR_ARGUMENT for a row id that is not there or
 * given twice. `sorted` is left as it is. Blocks. */
kr_sorted kr_sorted_set_keys(kr_work *work, const kr_sorted *sorted, const kr_set_keys *job);

/* KR_ERR_INVARIANT where entries are out of order, or have other ends. Returns 1 if no key is given twice.
 * Blocks. */
typedef struct kr_sorted_check {
    kr_entries entries;
    uint32_t key_bits;
    uint64_t lowest, highest; /* as the structure has them */
} kr_sorted_check;
int kr_sorted_validate(kr_work *work, const kr_sorted_check *check);

/* The same by a program of index/sorted/order_check.h, for entries in other layouts. */
typedef struct kr_order_check {
    const kr_program *program;
    void *params;
    uint64_t **found; /* that of the params */
    uint64_t n, lowest, highest;
} kr_order_check;
int kr_sorted_order_check(kr_work *work, const kr_order_check *check);

/* What is saved (base/image/image.h): all of it, or the codes of end keys. `type` is the kr_type of the keys.
 */
void kr_sorted_image(kr_image *image, uint32_t type, kr_sorted *sorted);
void kr_sorted_image_ends(kr_image *image, uint32_t key_bits, uint64_t *lowest, uint64_t *highest);

#endif
