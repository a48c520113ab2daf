/* The build of kind `dense` of distinct keys that groups their rows by blocks, with the passes of
 * index/partition, in place of a sort. */
#include "index/families/direct/direct_build.h"
#include "index/families/direct/direct_parts_width_body.h"
#include "index/partition/partition.h"

/* A part has about so many rows, unless there would be too many parts. */
enum { PART_ROWS_BITS = 13 };

/* Threads count rows of parts in 32 bits, a stride beyond the end. */
#define ROWS_MOST (UINT32_MAX - (1u << 16))

typedef struct parts_plan {
    uint32_t bits; /* 2^bits parts; 0: the bits of one would not fit shared memory */
    uint32_t part_blocks, part_rows, nbytes;
} parts_plan;

static uint64_t bits_nbytes(uint64_t part_blocks)
{
    return 2 * sizeof(uint32_t) * (uint64_t)direct_part_words((uint32_t)part_blocks);
}

static uint64_t part_of(uint64_t n, uint32_t bits)
{
    return (n + ((uint64_t)1 << bits) - 1) >> bits;
}

static uint64_t values_of(uint64_t blocks)
{
    return blocks * DIRECT_VALUES;
}

static parts_plan plan_of(const kr_device *device, uint64_t n, uint64_t n_blocks)
{
    const uint64_t room = device->block_nbytes;
    uint32_t bits = 1;
    while (bits < KR_PART_BITS_MOST &&
           (n >> bits >> PART_ROWS_BITS || bits_nbytes(part_of(n_blocks, bits)) > room / 2))
        ++bits;
    const uint64_t part_blocks = part_of(n_blocks, bits), nbytes = bits_nbytes(part_blocks);
    if (nbytes > room)
        return (parts_plan){0};
    /* Rows that are spread evenly differ by little from part to part. */
    const uint64_t rows = part_of(n, bits) + part_of(n, bits) / 8 + 64,
                   fit = (room - nbytes) / sizeof(uint32_t);
    const uint32_t part_rows = (uint32_t)(rows < fit ? rows : fit);
    return (parts_plan){bits, (uint32_t)part_blocks, part_rows,
                        (uint32_t)(nbytes + part_rows * sizeof(uint32_t))};
}

/* ---- Parts ---------------------------------------------------------------------------------------- */

static void group_rows(kr_work *w, const kr_coded *codes, uint32_t bits, direct_parts_params *p)
{
    const kr_partition_job job = {.even = values_of(p->part_blocks),
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
    kr_work_run(w, &KR_W(direct_parts), p, (uint64_t)1 << plan->bits);
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
                             .part_rows = plan.part_rows};
    if (!kr_work_goes_on(w) || !plan.bits || view->n > ROWS_MOST || view->n_blocks > DIRECT_SPOT_BLOCKS_MOST)
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
        .even = 1, .n = n, .bits = plan.bits ? plan.bits : KR_PART_BITS_MOST, .segment = UINT32_MAX};
    if (!n)
        return 0;
    return n_blocks * DIRECT_BLOCK_NBYTES + ids + sizeof(uint64_t) + KR_W(kr_partition_estimate)(&job);
}
