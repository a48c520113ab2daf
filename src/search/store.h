/* The entries of a kind that searches: sorted codes and row ids, in two arrays or packed side by side
 * (option `layout`). */
#ifndef KEYRAY_SEARCH_STORE_H
#define KEYRAY_SEARCH_STORE_H

#include "search/search.h"
#include "sorted/sorted.h"

typedef struct kr_store {
    kr_sorted sorted; /* layout=soa; its n, lowest and highest in either layout */
    kr_buffer packed; /* layout=aos */
    uint32_t key_bits, aos;
} kr_store;

/* Sorts and lays out. On failure everything is released. */
kr_status kr_store_build(const kr_build *build, kr_store *store, kr_error *err);
void kr_store_release(kr_device *device, kr_store *store, kr_stream *stream);
void kr_store_estimate(const kr_shape *shape, kr_estimate *estimate);

/* As the bodies see them. */
kr_entries kr_store_entries(const kr_store *store);
kr_rows_view kr_store_rows(const kr_store *store);
/* How many parts were written. */
uint32_t kr_store_parts(const kr_store *store, kr_part parts[KR_STATS_PARTS]);
kr_status kr_store_validate(kr_device *device, const kr_store *store, kr_error *err);

#endif
