/* The batch of an update, sorted. */
#ifndef KEYRAY_INDEX_SORTED_CHANGES_H
#define KEYRAY_INDEX_SORTED_CHANGES_H

#include "index/sorted/sorted.h"

/* Without NULLs and without the ends of a kr_sorted. Deletes may repeat keys; they may have no row ids. */
typedef struct kr_changes {
    kr_sorted deletes, inserts;
} kr_changes;

/* Scratch memory of the work. `seed` as in kr_sorted_sort. */
kr_changes kr_changes_make(kr_work *work, const kr_update *job, const uint64_t *seed);
/* The halves on their own: the deletes, and the inserts unsorted, which ascend by their row ids. */
kr_sorted kr_changes_deletes(kr_work *work, const kr_update *job, uint64_t seed);
void kr_changes_list(kr_work *work, const kr_update *job, uint64_t seed, kr_listed *inserts);
void kr_changes_give(kr_work *work, const kr_changes *changes);

#endif
