#include "index/lightweight/update.h"

kr_store KR_W(kr_store_merge)(kr_merge *m, const kr_store *store, uint64_t n_slots)
{
    kr_store made = kr_store_reserve(
        m->work, store, n_slots,
        "an update holds old and new entries at once; cgrx:updates=on changes them in place");
    made.n = m->n;
    const kr_entries entries = kr_store_entries(&made);
    KR_W(kr_merge_write)(m, &entries);
    made.lowest = m->lowest;
    made.highest = m->highest;
    return made;
}

kr_store KR_W(kr_store_update)(kr_work *w, const kr_store *store, const kr_update *job, int *changed)
{
    kr_store merged = {.n = 0};
    kr_sorted_merge_params params;
    const void *numbered;
    const kr_entries old = kr_store_with_rows(w, store, &numbered);
    kr_merge m = KR_W(kr_merge_of_entries)(w, &old, store->layout, &params);
    const kr_changes changes = kr_changes_make(w, job, NULL);
    KR_W(kr_merge_plan)(&m, &changes);
    *changed = KR_W(kr_merge_has_changes)(&m);
    if (*changed)
        merged = KR_W(kr_store_merge)(&m, store, m.n);
    if (*changed && numbered && merged.n)
        kr_store_leave_rows(w, &merged);
    kr_work_give(w, numbered);
    KR_W(kr_merge_give)(&m);
    kr_changes_give(w, &changes);
    kr_work_lap(w, "merge");
    return merged;
}
