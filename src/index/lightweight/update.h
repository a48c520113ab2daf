/* Updates of a store: merged into a new one, beside the old. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_UPDATE_H
#define KEYRAY_INDEX_LIGHTWEIGHT_UPDATE_H

#include "index/lightweight/store.h"
#include "index/sorted/merge.h"

/* The second half of an update: after the plan of `m`, writes into n_slots new slots, which are scratch
 * memory of the work; `store` is as it was. Blocks. */
kr_store KR_W(kr_store_merge)(kr_merge *m, const kr_store *store, uint64_t n_slots);

/* All of an update of entries in key order. *changed 0: it changes nothing, and there is no new store. */
kr_store KR_W(kr_store_update)(kr_work *work, const kr_store *store, const kr_update *job, int *changed);

#endif
