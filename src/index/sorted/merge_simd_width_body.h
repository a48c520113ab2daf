/* The programs that merge entries in key order: from two arrays into two arrays, and from any layout into any
 * other. */
#ifndef KEYRAY_INDEX_SORTED_MERGE_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_SORTED_MERGE_SIMD_WIDTH_BODY_H

#include "index/sorted/merge_programs.h"

KR_MAP_PROGRAM(kr_merge_keep, kr_merge_params, kr_merge_keep_hit);

/* Entries in key order are in slots by position. */
KR_BODY uint64_t merge_slot(const kr_sorted_merge_params *p, uint64_t position)
{
    (void)p;
    return position;
}

KR_BODY const uint32_t *merge_soa_key(const kr_sorted_merge_params *p, uint64_t slot)
{
    return kr_entry(&p->merge.old, 0, slot);
}

KR_BODY const uint32_t *merge_soa_row(const kr_sorted_merge_params *p, uint64_t slot)
{
    return (const uint32_t *)p->merge.old.rows + slot;
}

KR_BODY void merge_soa_put(const kr_sorted_merge_params *p, uint64_t position, kr_key key, uint32_t row)
{
    ((kr_key *)p->merge.merged.keys)[position] = key;
    ((uint32_t *)p->merge.merged.rows)[position] = row;
}
KR_MERGE_PROGRAMS(sorted_merge_soa, kr_sorted_merge_params, merge_slot, merge_soa_key, merge_soa_row,
                  merge_soa_put);

KR_BODY const uint32_t *merge_any_key(const kr_sorted_merge_params *p, uint64_t slot)
{
    return (const uint32_t *)(p->merge.old.keys + slot * p->merge.old.key_stride);
}

KR_BODY const uint32_t *merge_any_row(const kr_sorted_merge_params *p, uint64_t slot)
{
    return (const uint32_t *)(p->merge.old.rows + slot * p->merge.old.row_stride);
}

KR_BODY void merge_any_put(const kr_sorted_merge_params *p, uint64_t position, kr_key key, uint32_t row)
{
    kr_entries_put(&p->merge.merged, position, key, row);
}
KR_MERGE_PROGRAMS(sorted_merge_any, kr_sorted_merge_params, merge_slot, merge_any_key, merge_any_row,
                  merge_any_put);

#endif
