/* Where keys and entries stand in the sorted batch of an update, which the running program only reads. */
#ifndef KEYRAY_INDEX_SORTED_CHANGES_SEARCH_H
#define KEYRAY_INDEX_SORTED_CHANGES_SEARCH_H

#include "base/key/key.h"

/* The first of deletes low .. high - 1 that is not below `key`, or with `above` that is above it; or high. */
KR_BODY uint32_t kr_changes_delete_at(const kr_key *deletes, uint32_t low, uint32_t high, kr_key key,
                                      uint32_t above)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const kr_key found = kr_load(deletes + middle);
        if (found < key || (above && found == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether `key` is one of deletes low .. high - 1. */
KR_BODY int kr_changes_is_deleted(const kr_key *deletes, uint32_t low, uint32_t high, kr_key key)
{
    const uint32_t at = kr_changes_delete_at(deletes, low, high, key, 0);
    return at < high && kr_load(deletes + at) == key;
}

/* Inserts by their keys, then by their rows, to which `first_row` is added. */
typedef struct kr_changes_inserts {
    const kr_key *keys;
    const uint32_t *rows;
    uint32_t first_row;
} kr_changes_inserts;

KR_BODY uint32_t kr_changes_insert_row(kr_changes_inserts inserts, uint32_t i)
{
    return inserts.first_row + kr_load(inserts.rows + i);
}

/* The first of inserts low .. high - 1 that is not below the entry (key, *row), or with `above` that is above
 * it; or high. Rows are read for equal keys only. */
KR_BODY uint32_t kr_changes_insert_at(kr_changes_inserts inserts, uint32_t low, uint32_t high, kr_key key,
                                      const uint32_t *row, uint32_t above)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const kr_key found = kr_load(inserts.keys + middle);
        if (found < key || (found == key && (above ? kr_changes_insert_row(inserts, middle) <= *row
                                                   : kr_changes_insert_row(inserts, middle) < *row)))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
