/* Merges the sorted batch of an update into sorted entries: every key among the deletes is left out, the
 * inserts come in by (key, row id), behind entries that are equal to them. The old entries stay as they are:
 * at the peak there are old ones, new ones, and 4 bytes for each insert and 20 for each delete. */
#ifndef KEYRAY_INDEX_SORTED_MERGE_H
#define KEYRAY_INDEX_SORTED_MERGE_H

#include "index/sorted/changes.h"

/* Into new sorted columns, with their ends, which are scratch memory of the work. `old` is in key order, in
 * two arrays or side by side. Ends the phase "merge". */
kr_sorted kr_sorted_merge_u32(kr_work *work, const kr_changes *changes, const kr_entries *old);
kr_sorted kr_sorted_merge_u64(kr_work *work, const kr_changes *changes, const kr_entries *old);

#if defined(KR_KEY_BITS)
#include "index/sorted/merge_params.h"

/* ---- In steps -------------------------------------------------------------------------------- */

/* The programs that KR_MERGE_PROGRAMS(name, ...) makes. */
typedef struct kr_merge_programs {
    const kr_program *bound, *find, *split, *write;
} kr_merge_programs;
#define KR_MERGE_PROGRAMS_DECLARE(name) \
    KR_PROGRAM_DECLARE(name##_bound);   \
    KR_PROGRAM_DECLARE(name##_find);    \
    KR_PROGRAM_DECLARE(name##_split);   \
    KR_PROGRAM_DECLARE(name##_write)
#define KR_MERGE_PROGRAMS_OF(name)                                                        \
    {                                                                                     \
        &KR_W(name##_bound), &KR_W(name##_find), &KR_W(name##_split), &KR_W(name##_write) \
    }

typedef struct kr_merge {
    kr_work *work;
    kr_merge_programs programs;
    void *params;             /* of the programs */
    kr_merge_params *merge;   /* its member, with `old` set */
    uint64_t n;               /* of the result, known after the plan */
    uint64_t lowest, highest; /* after the write */
} kr_merge;

/* For entries in key order; `layout`: that of the result. */
kr_merge KR_W(kr_merge_of_entries)(kr_work *work, const kr_entries *old, uint32_t layout,
                                   kr_sorted_merge_params *params);
/* Finds where everything goes. KR_ERR_LIMIT: there would be too many rows. */
void KR_W(kr_merge_plan)(kr_merge *merge, const kr_changes *changes);
/* 0: nothing is deleted or inserted, or a step has failed. */
int KR_W(kr_merge_has_changes)(const kr_merge *merge);
/* Writes into entries with room for all. Blocks. */
void KR_W(kr_merge_write)(kr_merge *merge, const kr_entries *merged);
/* The scratch memory of the plan. */
void KR_W(kr_merge_give)(const kr_merge *merge);

#endif

#endif
