/* Merges the sorted batch of an update into sorted entries: every key among the deletes is left out, the
 * inserts come in by (key, row id), behind entries that are equal to them. The old entries stay as they are:
 * at the peak there are old ones, new ones, and 4 bytes for each insert and 20 for each delete. */
#ifndef KEYRAY_SORTED_MERGE_H
#define KEYRAY_SORTED_MERGE_H

#include "sorted/changes.h"

/* Into new sorted columns, with their ends. `old` is in key order, in two arrays or side by side. On failure
 * nothing is left. Ends the phase "merge". */
kr_status kr_sorted_merge_u32(kr_device *device, kr_stream *stream, kr_stopwatch *watch,
                              const kr_changes *changes, const kr_entries *old, kr_sorted *merged,
                              kr_error *err);
kr_status kr_sorted_merge_u64(kr_device *device, kr_stream *stream, kr_stopwatch *watch,
                              const kr_changes *changes, const kr_entries *old, kr_sorted *merged,
                              kr_error *err);

#if defined(KR_KEY_BITS)
#include "sorted/merge_params.h"

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

enum { KR_MERGE_SCRATCHES = 7 };

typedef struct kr_merge {
    kr_device *device;
    kr_stream *stream;
    kr_merge_programs programs;
    void *params;             /* of the programs */
    kr_merge_params *merge;   /* its member, with `old` set */
    uint64_t n;               /* of the result, known after the plan */
    uint64_t lowest, highest; /* after the write */
    kr_buffer scratch[KR_MERGE_SCRATCHES];
} kr_merge;

/* For entries in key order; `layout`: that of the result. */
kr_merge KR_W(kr_merge_of_entries)(kr_device *device, kr_stream *stream, const kr_entries *old,
                                   uint32_t layout, kr_sorted_merge_params *params);
/* Finds where everything goes. KR_ERR_LIMIT: there would be too many rows. */
kr_status KR_W(kr_merge_plan)(kr_merge *merge, const kr_changes *changes, kr_error *err);
/* 0: nothing is deleted or inserted. */
int KR_W(kr_merge_changes)(const kr_merge *merge);
/* Writes into entries with room for all. Blocks. */
kr_status KR_W(kr_merge_write)(kr_merge *merge, const kr_entries *merged, kr_error *err);
/* Also after a failure. */
void KR_W(kr_merge_release)(kr_merge *merge);

#endif

#endif
