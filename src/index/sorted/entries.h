/* Entries (a code and a row id each) in slots, in separate arrays or side by side, for all kinds. */
#ifndef KEYRAY_INDEX_SORTED_ENTRIES_H
#define KEYRAY_INDEX_SORTED_ENTRIES_H

#include "base/key/key.h"

/* Values of the option `layout`. */
enum {
    KR_LAYOUT_SOA,   /* codes in one array, row ids in another */
    KR_LAYOUT_AOS,   /* the row id right behind its code: 64-bit codes are then aligned to 4 bytes only */
    KR_LAYOUT_PADDED /* the same, in as many bytes as two codes */
};

typedef struct kr_entries {
    char *keys, *rows;   /* of slot 0; rows NULL: no row ids are kept, as that of slot s is first_row + s */
    uint32_t key_stride; /* bytes from a slot to the next */
    union {
        uint32_t row_stride; /* likewise */
        uint32_t first_row;  /* where rows is NULL */
    };
    uint32_t n;      /* entries */
    uint32_t layout; /* KR_LAYOUT_* */
} kr_entries;
kr_assert_size(kr_entries, 32);

/* Bytes from one key to the next, and of a whole slot. */
static inline uint32_t kr_layout_stride(uint32_t layout, uint32_t key_nbytes)
{
    return layout == KR_LAYOUT_SOA   ? key_nbytes
           : layout == KR_LAYOUT_AOS ? key_nbytes + (uint32_t)sizeof(uint32_t)
                                     : 2 * key_nbytes;
}

static inline uint32_t kr_layout_nbytes(uint32_t layout, uint32_t key_nbytes)
{
    return kr_layout_stride(layout, key_nbytes) + (layout == KR_LAYOUT_SOA ? (uint32_t)sizeof(uint32_t) : 0);
}

/* `rows`: the second array of KR_LAYOUT_SOA. */
static inline kr_entries kr_entries_of(uint32_t layout, uint32_t key_nbytes, void *keys, void *rows,
                                       uint64_t n)
{
    const uint32_t stride = kr_layout_stride(layout, key_nbytes);
    kr_entries entries = {(char *)keys, (char *)rows, stride, {sizeof(uint32_t)}, (uint32_t)n, layout};
    if (layout != KR_LAYOUT_SOA) {
        entries.rows = keys ? (char *)keys + key_nbytes : NULL;
        entries.row_stride = stride;
    }
    return entries;
}

/* Codes alone, of rows first_row, first_row + 1, ... */
static inline kr_entries kr_entries_of_codes(uint32_t key_nbytes, void *keys, uint32_t first_row, uint64_t n)
{
    kr_entries entries = kr_entries_of(KR_LAYOUT_SOA, key_nbytes, keys, NULL, n);
    entries.first_row = first_row;
    return entries;
}

#if defined(KR_KEY_BITS)

/* ---- For bodies, on data that the running program does not write -------------------------------- */

KR_BODY kr_key kr_entry_key_words(const uint32_t *words)
{
#if KR_KEY_BITS == 32
    return kr_load(words);
#else
    return kr_load(words) | (kr_key)kr_load(words + 1) << 32;
#endif
}

/* In any layout. */
KR_BODY kr_key kr_entries_key(const kr_entries *entries, uint64_t slot)
{
    const char *at = entries->keys + slot * entries->key_stride;
    if (sizeof(kr_key) == 8 && entries->layout == KR_LAYOUT_AOS)
        return kr_entry_key_words((const uint32_t *)at);
    return kr_load((const kr_key *)at);
}

KR_BODY uint32_t kr_entries_row(const kr_entries *entries, uint64_t slot)
{
    return kr_load((const uint32_t *)(entries->rows + slot * entries->row_stride));
}

KR_BODY void kr_entries_put(const kr_entries *entries, uint64_t slot, kr_key key, uint32_t row)
{
    uint32_t *words = (uint32_t *)(entries->keys + slot * entries->key_stride);
#if KR_KEY_BITS == 64
    if (entries->layout == KR_LAYOUT_AOS) {
        words[0] = (uint32_t)key;
        words[1] = (uint32_t)(key >> 32);
    } else
#endif
        *(kr_key *)words = key;
    *(uint32_t *)(entries->rows + slot * entries->row_stride) = row;
}

/* In layouts SOA and AOS. Hot programs pass a constant for `aos`, others entries->layout. Functions whose
 * names begin with kr_entries_ want row ids that are kept. */
KR_BODY const uint32_t *kr_entry(const kr_entries *entries, int aos, uint64_t slot)
{
    const uint32_t words = sizeof(kr_key) / 4 + (aos ? 1 : 0);
    return (const uint32_t *)entries->keys + slot * words;
}

KR_BODY kr_key kr_entry_key(const kr_entries *entries, int aos, uint64_t slot)
{
    return aos ? kr_entry_key_words(kr_entry(entries, 1, slot))
               : kr_load((const kr_key *)entries->keys + slot);
}

KR_BODY uint32_t kr_entry_row(const kr_entries *entries, int aos, uint64_t slot)
{
    if (aos)
        return kr_load(kr_entry(entries, 1, slot) + sizeof(kr_key) / 4);
    return entries->rows ? kr_load((const uint32_t *)entries->rows + slot)
                         : entries->first_row + (uint32_t)slot;
}

/* Asks for the row id of a slot, where it lies in memory apart from its code. */
KR_BODY void kr_entry_row_prefetch(const kr_entries *entries, int aos, uint64_t slot)
{
    if (!aos && entries->rows)
        kr_prefetch((const uint32_t *)entries->rows + slot);
}

#endif

#endif
