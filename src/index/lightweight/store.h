/* The entries of a kind that searches: codes and row ids, in two arrays or packed side by side (option
 * `layout`). In key order, unless the kind puts them elsewhere.
 *
 * The structure of such a kind begins with its store, so that most of its operations are those of the store:
 * functions that take a `self` are used as a family's operations directly. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_STORE_H
#define KEYRAY_INDEX_LIGHTWEIGHT_STORE_H

#include "index/lightweight/search.h"
#include "index/sorted/sorted.h"

typedef struct kr_store {
    kr_buffer keys; /* layout=soa: codes; layout=aos: entries */
    kr_buffer rows; /* layout=soa; empty where row ids are consecutive */
    uint64_t n;
    uint64_t lowest, highest; /* codes of the end keys */
    uint32_t key_bits, layout;
    uint32_t by_one;    /* scan_threads=1 */
    uint32_t first_row; /* where row ids are consecutive: that of position 0 */
} kr_store;

/* What a work makes is its scratch memory until it is kept. */
void kr_store_keep(kr_work *work, kr_store *store);
/* 1: it keeps no row ids, as they are first_row, first_row + 1, ... in the order of the keys. */
int kr_store_is_clustered(const kr_store *store);
/* Sorts and lays out in key order; without row ids where layout=soa needs none. */
kr_store kr_store_build(kr_work *work, const kr_build *build);
/* n_slots slots for sorted entries, which the kind then places itself; `help` is the advice in the error. */
kr_store kr_store_open(kr_work *work, const kr_build *build, const kr_sorted *sorted, uint64_t n_slots,
                       const char *help);
/* The same for a store that is otherwise like another. */
kr_store kr_store_reserve(kr_work *work, const kr_store *like, uint64_t n_slots, const char *help);
/* The entries of a store in key order, all with row ids: those of a clustered one are numbered in scratch
 * memory, *numbered, else NULL. */
kr_entries kr_store_with_rows(kr_work *work, const kr_store *store, const void **numbered);
/* Of a store whose old entries were clustered: gives its row ids back if they are consecutive again. Blocks.
 */
void kr_store_leave_rows(kr_work *work, kr_store *store);
/* The memory of n_slots slots. `moved`: the sorted entries are copied, so that both copies exist at once. */
void kr_store_estimate(const kr_shape *shape, uint64_t n_slots, int moved, kr_need *estimate);
int kr_store_packs(const kr_spec *spec); /* 1: the layout is not soa */

/* The entries as bodies see them. */
kr_entries kr_store_entries(const kr_store *store);

/* Releases the structure, too: a kind's own destroy calls it last. */
void kr_store_release(kr_device *device, kr_store *store, kr_stream *stream);
void kr_store_destroy(kr_device *device, void *self, kr_stream *stream);
kr_rows kr_store_rows(const void *self);
void kr_store_key_range(const void *self, uint64_t *lowest, uint64_t *highest);
uint32_t kr_store_components(const void *self, kr_component components[KR_COMPONENTS_MOST]);
int kr_store_validate(kr_work *work, const void *self);
/* What is saved. `before`: slots in front of the first entry, if there is one. `in_order`: 1 where entries
 * are in key order, so that a store may be clustered. */
void kr_store_image(kr_image *image, const kr_image_of *of, uint32_t before, int in_order, kr_store *store);

#endif
