/* The entries of a kind that searches: codes and row ids, in two arrays or packed side by side (option
 * `layout`), in key order or in Eytzinger order.
 *
 * The structure of such a kind begins with its store, so that most of its operations are those of the store:
 * the functions that take a `self` are a family's operations as they are. */
#ifndef KEYRAY_SEARCH_STORE_H
#define KEYRAY_SEARCH_STORE_H

#include "search/search.h"

typedef struct kr_store {
    kr_buffer keys;    /* layout=soa: codes; layout=aos: entries */
    kr_buffer rows;    /* layout=soa */
    kr_eytzinger tree; /* the order; k 0: by key */
    uint64_t n;
    uint64_t lowest, highest; /* codes of the end keys */
    uint32_t key_bits, aos;
    uint32_t scan; /* KR_SCAN_* */
} kr_store;

/* Sorts and lays out, in Eytzinger order of fan-out k, or, with k 0, by key. On failure everything is
 * released. */
kr_status kr_store_build(const kr_build *build, uint32_t k, kr_store *store, kr_error *err);
void kr_store_estimate(const kr_shape *shape, uint32_t k, kr_estimate *estimate);

/* As the bodies see them. */
kr_entries kr_store_entries(const kr_store *store);

/* Releases the structure, too: the last thing that a kind's own destroy does. */
void kr_store_destroy(kr_device *device, void *self);
kr_rows_view kr_store_rows(const void *self);
uint32_t kr_store_scan(const void *self);
uint64_t kr_store_n_rows(const void *self);
void kr_store_key_range(const void *self, uint64_t *lowest, uint64_t *highest);
uint32_t kr_store_parts(const void *self, kr_part parts[KR_STATS_PARTS]);
kr_status kr_store_validate(kr_device *device, const void *self, kr_error *err);

#endif
