/* The structure of an index of kind `dense`, and how it is made. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_H

#include "index/families/direct/direct.h"
#include "index/sorted/sorted.h"

typedef struct direct_index {
    kr_buffer blocks, starts, rows; /* starts, rows: empty where they are not needed */
    direct_view view;
    kr_spec spec;
} direct_index;

#if defined(KR_KEY_BITS)
#include "index/families/direct/direct_build_params.h"

kr_status KR_W(direct_estimate)(const kr_shape *shape, kr_need *need, kr_error *err);
void KR_W(direct_build)(kr_work *work, const kr_build *build, void **self);

/* Of sorted rows, which it gives back or takes over: what it makes is scratch memory until it is kept. Where
 * not is_unique, keys may repeat. `before`: the index that it takes the place of, whose number of bits is
 * always allowed, so that deletes are not refused; or NULL. `step`: of its codes, or 0 where it is not known.
 * Blocks. */
direct_index KR_W(direct_make)(kr_work *work, const kr_spec *spec, const kr_sorted *sorted, int is_unique,
                               uint64_t step, const direct_index *before);
/* Bits, ranks and row ids of keys in any order, of which the view knows the lowest, the step and the number
 * of blocks: scratch memory of the work. 0: a key is there twice, or there are too many blocks, and nothing
 * was made. Blocks. */
int KR_W(direct_scatter)(kr_work *work, const kr_coded *codes, direct_view *view);
/* The same, by another way: rows are grouped by blocks first. 0 also where a slice of the blocks does not
 * fit shared memory. */
int KR_W(direct_group)(kr_work *work, const kr_coded *codes, direct_view *view);
/* 1: of the first keys of a large column some are there twice, so that most such columns are noticed before
 * rows are moved. Sets bits of the view's blocks. Blocks. */
int KR_W(direct_repeats_early)(kr_work *work, const kr_coded *codes, const direct_view *view);
/* Their bytes, with what they make, for up to so many blocks. */
uint64_t KR_W(direct_scatter_estimate)(const kr_shape *shape, uint64_t n_blocks);
uint64_t KR_W(direct_group_estimate)(const kr_shape *shape, uint64_t n_blocks);
void KR_W(direct_keep)(kr_work *work, direct_index *made);
void KR_W(direct_release)(kr_device *device, direct_index *index, kr_stream *stream);
/* The pointers of the view, from the buffers. */
void KR_W(direct_bind)(direct_index *index);

/* The rows of an index in key order; its own row ids, where it keeps them. */
kr_sorted KR_W(direct_unfold)(kr_work *work, const direct_index *index);
void KR_W(direct_unfold_give)(kr_work *work, const direct_index *index, const kr_sorted *sorted);

/* Points of a partitioned batch, part by part in shared memory. 0: nothing was done, as that does not pay, or
 * a part does not fit. Enqueues. */
int KR_W(direct_points_locate)(kr_work *work, const direct_view *view, const kr_locate *job);

KR_PROGRAM_DECLARE(direct_check_blocks);
KR_PROGRAM_DECLARE(direct_check_starts);
KR_PROGRAM_DECLARE(direct_check_rows);
#endif

#endif
