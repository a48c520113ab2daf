/* The slots of all entries, in one layout, at one key width. */
#include "index/families/cgrx/cgrx_nodes.h"

kr_entries KR_W(cgrx_storage_entries)(const cgrx_storage *storage, uint64_t n)
{
    return kr_entries_of(storage->layout, sizeof(kr_key), storage->keys.data, storage->rows.data, n);
}

cgrx_storage KR_W(cgrx_storage_take)(kr_work *w, uint32_t layout, uint64_t n)
{
    const int apart = layout == KR_LAYOUT_SOA;
    cgrx_storage made = {.layout = layout};
    made.keys = kr_work_buffer(w, n * kr_layout_stride(layout, sizeof(kr_key)),
                               apart ? "keys of buckets" : "entries of buckets", NULL);
    if (apart)
        made.rows = kr_work_buffer(w, n * sizeof(uint32_t), "row ids of buckets", NULL);
    return made;
}
