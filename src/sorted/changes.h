/* The batch of an update, sorted. */
#ifndef KEYRAY_SORTED_CHANGES_H
#define KEYRAY_SORTED_CHANGES_H

#include "sorted/sorted.h"

/* Without NULLs and without the ends of a kr_sorted. Deletes may repeat keys; they may have no row ids. */
typedef struct kr_changes {
    kr_sorted deletes, inserts;
} kr_changes;

/* `seed` as in kr_sorted_sort. On failure nothing is left. */
kr_status kr_changes_make(kr_device *device, const kr_update *job, const uint64_t *seed, kr_changes *changes,
                          kr_error *err);
/* The halves on their own: the deletes, and the inserts unsorted, which ascend by their row ids. */
kr_status kr_changes_deletes(kr_device *device, const kr_update *job, uint64_t seed, kr_sorted *deletes,
                             kr_error *err);
kr_status kr_changes_list(kr_device *device, const kr_update *job, uint64_t seed, kr_listed *inserts,
                          kr_error *err);
void kr_changes_release(kr_device *device, kr_stream *stream, kr_changes *changes);

#endif
