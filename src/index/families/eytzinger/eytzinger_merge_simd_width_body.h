/* Merging the batch of an update: entries are read by their old ranks and placed by their new ones. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_MERGE_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_MERGE_SIMD_WIDTH_BODY_H

#include "index/families/eytzinger/eytzinger_params.h"
#include "index/sorted/merge_programs.h"

KR_BODY uint64_t eytzinger_old_slot(const eytzinger_merge_params *p, uint64_t rank)
{
    return eytzinger_slot_of_rank(&p->old, rank);
}

KR_BODY const uint32_t *eytzinger_old_key(const eytzinger_merge_params *p, uint64_t slot)
{
    return (const uint32_t *)(p->merge.old.keys + slot * p->merge.old.key_stride);
}

KR_BODY const uint32_t *eytzinger_old_row(const eytzinger_merge_params *p, uint64_t slot)
{
    return (const uint32_t *)(p->merge.old.rows + slot * p->merge.old.row_stride);
}

KR_BODY void eytzinger_put_merged(const eytzinger_merge_params *p, uint64_t rank, kr_key key, uint32_t row)
{
    if (rank == 0 && eytzinger_first(p->merged.k))
        kr_entries_put(&p->merge.merged, 0, (kr_key) ~(kr_key)0, KR_NO_ROW);
    kr_entries_put(&p->merge.merged, eytzinger_slot_of_rank(&p->merged, rank), key, row);
}
KR_MERGE_PROGRAMS(eytzinger_merge, eytzinger_merge_params, eytzinger_old_slot, eytzinger_old_key,
                  eytzinger_old_row, eytzinger_put_merged);

#endif
