/* Building and checking the levels: one load and one store per slot (Henneberg and Schuhknecht, "Is Binary
 * Search Really All You Need?", section 3.5). */
#ifndef KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_WIDTH_BODY_H

#include "index/families/pivot/pivot_params.h"
#include "index/sorted/entries.h"

/* The key of a slot. Most slots belong to the lowest level, so the search for the level begins there. */
KR_BODY kr_key pivot_of_slot(const pivot_build_params *p, uint64_t slot)
{
    const pivot_shape *shape = &p->shape;
    uint64_t width = (uint64_t)shape->leaf * shape->leaves;
    uint32_t level = 0;
    for (; slot < shape->starts[level]; ++level)
        width *= shape->k;
    const uint64_t i = slot - shape->starts[level];
    const uint64_t position = width * (1 + i + i / (shape->k - 1)) - 1;
    return position + 1 < p->entries.n ? kr_entry_key(&p->entries, (int)p->entries.layout, position)
                                       : (kr_key) ~(kr_key)0;
}

KR_BODY void pivot_fill_slot(const pivot_build_params *p, uint64_t slot)
{
    ((kr_key *)p->pivots)[slot] = pivot_of_slot(p, slot);
}
KR_MAP_PROGRAM(pivot_fill, pivot_build_params, pivot_fill_slot);

KR_BODY void pivot_check_slot(kr_group group, const pivot_build_params *p, uint64_t slot, uint64_t n)
{
    const int wrong = slot < n && kr_load((const kr_key *)p->pivots + slot) != pivot_of_slot(p, slot);
    kr_group_max64(group, wrong ? slot + 1 : 0, p->found);
}
KR_GROUP_PROGRAM(pivot_check, pivot_build_params, pivot_check_slot);

#endif
