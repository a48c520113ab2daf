/* The words of bodies for entries in either layout. `aos` is a constant of hot programs, entries->aos
 * elsewhere. */
#ifndef KEYRAY_SEARCH_ENTRIES_BODY_H
#define KEYRAY_SEARCH_ENTRIES_BODY_H

#include "key/key.h"
#include "search/entries.h"

KR_BODY const uint32_t *kr_entry(const kr_entries *entries, int aos, uint64_t slot)
{
    const uint32_t words = sizeof(kr_key) / 4 + (aos ? 1 : 0);
    return (const uint32_t *)entries->keys + slot * words;
}

KR_BODY kr_key kr_entry_key(const kr_entries *entries, int aos, uint64_t slot)
{
    const uint32_t *words = kr_entry(entries, aos, slot);
#if KR_KEY_BITS == 32
    return kr_load(words);
#else
    if (!aos)
        return kr_load((const kr_key *)entries->keys + slot);
    return kr_load(words) | (kr_key)kr_load(words + 1) << 32; /* 12-byte entries: 4-byte aligned */
#endif
}

KR_BODY uint32_t kr_entry_row(const kr_entries *entries, int aos, uint64_t slot)
{
    return aos ? kr_load(kr_entry(entries, 1, slot) + sizeof(kr_key) / 4) : kr_load(entries->rows + slot);
}

/* Writes the entry of a slot. `keys`, `rows`: as in kr_entries, rows NULL for packed entries. */
KR_BODY void kr_entries_put(void *keys, uint32_t *rows, uint64_t slot, kr_key key, uint32_t row)
{
    const uint32_t key_words = sizeof(kr_key) / 4;
    if (rows) {
        ((kr_key *)keys)[slot] = key;
        rows[slot] = row;
        return;
    }
    uint32_t *entry = (uint32_t *)keys + slot * (key_words + 1);
    entry[0] = (uint32_t)key;
#if KR_KEY_BITS == 64
    entry[1] = (uint32_t)(key >> 32);
#endif
    entry[key_words] = row;
}

#endif
