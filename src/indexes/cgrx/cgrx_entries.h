/* Where the entries of an index lie: layouts, and buckets as runs or as lists of nodes. Bodies. */
#ifndef KEYRAY_INDEXES_CGRX_CGRX_ENTRIES_H
#define KEYRAY_INDEXES_CGRX_CGRX_ENTRIES_H

#include "core/batch.h"
#include "indexes/cgrx/cgrx_lists.h"

/* layout=column: keys and row ids apart; row, packed: the row id behind its key. Slot s lies at s * stride.
 */
typedef struct cgrx_store {
    char *keys, *rows;
    uint32_t key_stride, row_stride; /* bytes; 12 for 64-bit keys: packed, keys at multiples of 4 */
} cgrx_store;
kr_assert_size(cgrx_store, 24);

typedef struct cgrx_entries {
    cgrx_store store;
    cgrx_lists lists; /* starts NULL: position p is slot p */
    uint32_t n;       /* entries */
    uint32_t bucket;  /* entries of a bucket, without lists */
} cgrx_entries;
kr_assert_size(cgrx_entries, 64);

#if defined(KR_KEY_BITS)

/* For data that the running program does not write. */
KR_BODY kr_key cgrx_slot_key(const cgrx_store *store, uint64_t slot)
{
    const char *at = store->keys + slot * store->key_stride;
#if KR_KEY_BITS == 64
    if (store->key_stride == 12)
        return kr_load((const uint32_t *)at) | (kr_key)kr_load((const uint32_t *)at + 1) << 32;
#endif
    return kr_load((const kr_key *)at);
}

KR_BODY uint32_t cgrx_slot_row(const cgrx_store *store, uint64_t slot)
{
    return kr_load((const uint32_t *)(store->rows + slot * store->row_stride));
}

KR_BODY void cgrx_slot_put(const cgrx_store *store, uint64_t slot, kr_key key, uint32_t row)
{
    char *at = store->keys + slot * store->key_stride;
#if KR_KEY_BITS == 64
    if (store->key_stride == 12) {
        ((uint32_t *)at)[0] = (uint32_t)key;
        ((uint32_t *)at)[1] = (uint32_t)(key >> 32);
    } else
#endif
        *(kr_key *)at = key;
    *(uint32_t *)(store->rows + slot * store->row_stride) = row;
}

KR_BODY kr_key cgrx_key(const cgrx_entries *e, uint64_t position)
{
    return cgrx_slot_key(&e->store, cgrx_lists_slot(&e->lists, position));
}

KR_BODY uint32_t cgrx_row(const cgrx_entries *e, uint64_t position)
{
    return cgrx_slot_row(&e->store, cgrx_lists_slot(&e->lists, position));
}

/* The first position of bucket b; of the bucket after the last: n. */
KR_BODY uint32_t cgrx_bucket_first(const cgrx_entries *e, uint32_t b)
{
    if (e->lists.starts)
        return kr_load(e->lists.starts + b);
    const uint64_t first = (uint64_t)b * e->bucket;
    return first < e->n ? (uint32_t)first : e->n;
}

#endif

#endif
