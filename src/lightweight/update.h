/* Updates of a store: merged into a new one, beside the old. */
#ifndef KEYRAY_LIGHTWEIGHT_UPDATE_H
#define KEYRAY_LIGHTWEIGHT_UPDATE_H

#include "lightweight/store.h"
#include "sorted/merge.h"

/* The second half of an update: after the plan of `m`, writes into n_slots new slots. On failure nothing is
 * left, and `store` is as it was in any case. Blocks. */
kr_status KR_W(kr_store_merge)(kr_merge *m, const kr_store *store, uint64_t n_slots, kr_store *merged,
                               kr_error *err);

/* All of an update of entries in key order. *changed 0: it changes nothing, and there is no *merged. */
kr_status KR_W(kr_store_update)(kr_device *device, const kr_store *store, const kr_update *job,
                                kr_store *merged, int *changed, kr_error *err);

#endif
