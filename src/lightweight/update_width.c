#include "lightweight/update.h"

kr_status KR_W(kr_store_merge)(kr_merge *m, const kr_store *store, uint64_t n_slots, kr_store *merged,
                               kr_error *err)
{
    kr_store made;
    kr_status status = kr_store_reserve(
        m->device, m->stream, store, n_slots,
        "an update holds old and new entries at once; cgrx:updates=on changes them in place", &made, err);
    if (status != KR_OK)
        return status;
    made.n = m->n;
    const kr_entries entries = kr_store_entries(&made);
    status = KR_W(kr_merge_write)(m, &entries, err);
    made.lowest = m->lowest;
    made.highest = m->highest;
    if (status == KR_OK)
        *merged = made;
    else
        kr_store_release(m->device, &made, m->stream);
    return status;
}

kr_status KR_W(kr_store_update)(kr_device *device, const kr_store *store, const kr_update *job,
                                kr_store *merged, int *changed, kr_error *err)
{
    kr_changes changes = {.deletes = {.n = 0}};
    kr_sorted_merge_params params;
    const kr_entries old = kr_store_entries(store);
    kr_merge m = KR_W(kr_merge_of_entries)(device, job->stream, &old, store->layout, &params);
    kr_status status = kr_changes_make(device, job, NULL, &changes, err);
    if (status == KR_OK)
        status = KR_W(kr_merge_plan)(&m, &changes, err);
    *changed = status == KR_OK && KR_W(kr_merge_changes)(&m);
    if (*changed)
        status = KR_W(kr_store_merge)(&m, store, m.n, merged, err);
    KR_W(kr_merge_release)(&m);
    kr_changes_release(device, job->stream, &changes);
    kr_stopwatch_lap(job->watch, "merge");
    return status;
}
