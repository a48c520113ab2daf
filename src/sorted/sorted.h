/* Sorted (key, row id) columns, which most families are built on. Keys are codes (key/key.h) in ascending
 * order, row ids ascend within equal keys, NULL rows are left out. */
#ifndef KEYRAY_SORTED_SORTED_H
#define KEYRAY_SORTED_SORTED_H

#include "kinds/family.h"
#include "sorted/entries.h"

typedef struct kr_sorted {
    kr_buffer keys; /* uint32_t or uint64_t[n] */
    kr_buffer rows; /* uint32_t[n] */
    uint64_t n;
    uint64_t lowest, highest; /* codes of the first and the last key; 0 when n is 0 */
} kr_sorted;

/* The key width follows from the type of the column. On failure everything is released. */
kr_status kr_sorted_build(const kr_build *build, kr_sorted *sorted, kr_error *err);
/* The same without the ends, in the order of kr_mix(code, *seed) (key/hash.h) where `seed` is not NULL: then
 * `keys` holds these hashes instead of codes. */
kr_status kr_sorted_sort(const kr_build *build, const uint64_t *seed, kr_sorted *sorted, kr_error *err);
/* Where the hashes of a column go, unsorted: device memory with room for one of each of its rows. */
typedef struct kr_listed {
    void *keys;
    uint32_t *rows;
    uint64_t n; /* out: rows without NULLs */
} kr_listed;

/* The hashes of the same rows in ascending order of their row ids. */
kr_status kr_sorted_list(const kr_build *build, uint64_t seed, kr_listed *listed, kr_error *err);
void kr_sorted_release(kr_device *device, kr_sorted *sorted, kr_stream *stream);
void kr_sorted_estimate(const kr_shape *shape, kr_need *estimate);
/* Fills lowest and highest. Blocks. */
kr_status kr_sorted_read_ends(kr_device *device, kr_stream *stream, uint32_t key_bits, kr_sorted *sorted,
                              kr_error *err);

/* The same rows, some of them with other keys. Fails with KR_ERR_ARGUMENT for a row id that is not there or
 * given twice. `sorted` is left as it is. Blocks. */
kr_status kr_sorted_set_keys(kr_device *device, const kr_sorted *sorted, const kr_set_keys *job,
                             kr_sorted *changed, kr_error *err);

/* KR_ERR_INVARIANT where entries are out of order. Blocks. */
typedef struct kr_sorted_check {
    kr_entries entries;
    uint32_t key_bits;
} kr_sorted_check;
kr_status kr_sorted_validate(kr_device *device, const kr_sorted_check *check, kr_error *err);

/* The same by a program of sorted/order_body.h, for entries in other layouts; *found is in its params. */
kr_status kr_order_check(kr_device *device, const kr_program *program, void *params, uint64_t **found,
                         uint64_t n, kr_error *err);

#endif
