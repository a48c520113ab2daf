/* The build of kind `dense` of distinct keys that groups their rows by blocks, with the passes of
 * index/partition, in place of a sort. */
#include "index/families/direct/direct_build.h"
#include "index/families/direct/direct_parts_width_body.h"
#include "index/partition/partition.h"

/* A part has about so many rows, unless there would be too many parts. Slices read all rows of their part. */
enum { PART_ROWS_BITS = 13, SLICES_MOST = 8 };

/* Threads count rows of parts in 32 bits, a stride beyond the end. */
#define ROWS_MOST (UINT32_MAX - (1u << 16))

typedef struct parts_plan {
    uint32_t bits; /* 2^bits parts; 0: a slice of one would not fit shared memory */
    uint32_t slices, part_blocks, slice_blocks, slice_rows, nbytes;
} parts_plan;

static uint64_t share_of(uint64_t n, uint64_t shares)
{
    return (n + shares - 1) / shares;
}

static uint64_t values_of(uint64_t blocks)
{
    return blocks * DIRECT_VALUES;
}

/* Rows that are spread evenly differ by little from slice to slice. Many blocks make a size of 2^32 and more,
 * which fits nowhere. */
static uint64_t plan_slices(uint64_t n, uint64_t n_blocks, parts_plan *plan)
{
    const uint64_t rows = share_of(n, (uint64_t)plan->slices << plan->bits);
    plan->part_blocks = (uint32_t)share_of(n_blocks, (uint64_t)1 << plan->bits);
    plan->slice_blocks = (uint32_t)share_of(plan->part_blocks, plan->slices);
    plan->slice_rows = (uint32_t)(rows + rows / 8 + 64);
    return sizeof(uint32_t) * (2 * (uint64_t)direct_slice_words(plan->slice_blocks) + plan->slice_rows);
}

static parts_plan plan_of(const kr_device *device, uint64_t n, uint64_t n_blocks)
{
    const uint64_t room = device->block_nbytes;
    parts_plan plan = {.bits = 1, .slices = 1};
    if (n > ROWS_MOST || n_blocks > DIRECT_SPOT_BLOCKS_MOST)
        return (parts_plan){0};
    while (plan.bits < KR_PART_BITS_MOST &&
           (n >> plan.bits >> PART_ROWS_BITS || plan_slices(n, n_blocks, &plan) > room))
        ++plan.bits;
    while (plan.slices < SLICES_MOST && plan_slices(n, n_blocks, &plan) > room)
        plan.slices *= 2;
    plan.nbytes = (uint32_t)plan_slices(n, n_blocks, &plan);
    return plan_slices(n, n_blocks, &plan) <= room ? plan : (parts_plan){0};
}

/* ---- Parts ---------------------------------------------------------------------------------------- */

static void group_rows(kr_work *w, const kr_coded *codes, uint32_t bits, direct_parts_params *p)
{
    const kr_partition_job job = {.pairs = 1,
                                  .even = values_of(p->part_blocks),
                                  .lowest = p->view.lowest,
                                  .step = p->view.step,
                                  .n = p->view.n,
                                  .bits = bits,
                                  .segment = UINT32_MAX};
    kr_batch batch = {.lower = codes->keys, .lower_type = KR_RAW_KEY};
    const kr_partition grouped = KR_W(kr_partition_make)(w, &job, &batch);
    p->pairs = grouped.pairs;
    p->starts = grouped.view.starts;
}

/* 0: a key is there twice. */
static int make(kr_work *w, const kr_coded *codes, const parts_plan *plan, direct_parts_params *p)
{
    uint64_t found = 0;
    p->found = kr_work_counters(w, 1);
    group_rows(w, codes, plan->bits, p);
    p->blocks = (kr_blocks){plan->nbytes, 0};
    kr_work_run(w, &KR_W(direct_parts), p, (uint64_t)plan->slices << plan->bits);
    kr_work_read(w, &found, p->found, sizeof found);
    return !found;
}

int KR_W(direct_group)(kr_work *w, const kr_coded *codes, direct_view *view)
{
    const uint32_t mark = kr_work_mark(w);
    const parts_plan plan = plan_of(w->device, view->n, view->n_blocks);
    direct_parts_params p = {.view = *view,
                             .row_ids = codes->list.rows,
                             .part_blocks = plan.part_blocks,
                             .slice_blocks = plan.slice_blocks,
                             .slices = plan.slices,
                             .slice_rows = plan.slice_rows};
    if (!kr_work_goes_on(w) || !plan.bits)
        return 0;
    p.view.blocks =
        kr_work_take_or(w, (uint64_t)view->n_blocks * DIRECT_BLOCK_NBYTES, "bits of keys", "kind pivot");
    p.view.rows = kr_work_take(w, view->n * sizeof *p.view.rows, "row ids");
    const uint32_t made = kr_work_mark(w);
    const int is_made = !KR_W(direct_repeats_early)(w, codes, &p.view) && make(w, codes, &plan, &p);
    if (!is_made || !kr_work_goes_on(w)) {
        kr_work_give_since(w, mark);
        return 0;
    }
    kr_work_give_since(w, made);
    p.view.n_keys = p.view.n;
    *view = p.view;
    return 1;
}

/* Follows direct_group allocation by allocation. */
uint64_t KR_W(direct_group_estimate)(const kr_shape *shape, uint64_t n_blocks)
{
    const uint64_t n = shape->count, ids = n * sizeof(uint32_t);
    const parts_plan plan = plan_of(shape->device, n, n_blocks);
    const kr_partition_job job = {
        .pairs = 1, .n = n, .bits = plan.bits ? plan.bits : KR_PART_BITS_MOST, .segment = UINT32_MAX};
    if (!n)
        return 0;
    return n_blocks * DIRECT_BLOCK_NBYTES + ids + sizeof(uint64_t) + KR_W(kr_partition_estimate)(&job);
}
