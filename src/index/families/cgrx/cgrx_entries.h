/* Where the entries of an index lie: layouts, and buckets as runs or as lists of nodes. Bodies. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_ENTRIES_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_ENTRIES_H

#include "index/families/cgrx/cgrx_lists.h"
#include "index/kinds/batch.h"
#include "index/sorted/entries.h"

typedef struct cgrx_entries {
    kr_entries store;
    cgrx_lists lists; /* starts NULL: position p is slot p */
    uint64_t bucket;  /* entries of a bucket, without lists */
} cgrx_entries;
kr_assert_size(cgrx_entries, 80);

#if defined(KR_KEY_BITS)

KR_BODY kr_key cgrx_key(const cgrx_entries *e, uint64_t position)
{
    return kr_entries_key(&e->store, cgrx_lists_slot(&e->lists, position));
}

KR_BODY uint32_t cgrx_row(const cgrx_entries *e, uint64_t position)
{
    return kr_entries_row(&e->store, cgrx_lists_slot(&e->lists, position));
}

/* The first position of bucket b; n for the bucket after the last. */
KR_BODY uint32_t cgrx_bucket_first(const cgrx_entries *e, uint32_t b)
{
    if (e->lists.starts)
        return kr_load(e->lists.starts + b);
    const uint64_t first = (uint64_t)b * e->bucket;
    return first < e->store.n ? (uint32_t)first : e->store.n;
}

#endif

#endif
