/* The nearest entries of a store in key order. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_NEAREST_H
#define KEYRAY_INDEX_LIGHTWEIGHT_NEAREST_H

#include "index/kinds/nearest.h"
#include "index/sorted/entries.h"

KR_BODY uint64_t kr_nearest_key(const kr_entries *entries, uint32_t position)
{
    return kr_entry_key(entries, (int)entries->layout, position);
}

KR_BODY uint32_t kr_nearest_row(const kr_entries *entries, uint32_t position)
{
    return kr_entry_row(entries, (int)entries->layout, position);
}

KR_BODY uint32_t kr_nearest_where(const kr_entries *entries, uint32_t position)
{
    (void)entries;
    return position;
}

KR_NEAREST(kr_entries_nearest, kr_entries, kr_nearest_key, kr_nearest_row, kr_nearest_where);

#endif
