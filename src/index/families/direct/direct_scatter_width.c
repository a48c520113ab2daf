/* The build of kind `dense` of distinct keys, without a sort. */
#include "index/families/direct/direct_build.h"

KR_PROGRAM_DECLARE(direct_spots);
KR_PROGRAM_DECLARE(direct_mark);
KR_PROGRAM_DECLARE(direct_counts);
KR_PROGRAM_DECLARE(direct_put_ranks);
KR_PROGRAM_DECLARE(direct_place);

/* Rows are moved once so that those of neighbouring bits are neighbours, in parts that fit a cache: on a CPU
 * that of a core, of about 2^15 rows, where the row ids of all do not; on a GPU, whose cache holds smaller
 * columns as a whole, in about as many as a pass of its sort makes. */
enum {
    CPU_PARTS_FROM_BITS = 18,
    CPU_PART_BITS = 15,
    CPU_PARTS_BITS = 11,
    GPU_PARTS_BITS = 8,
    GPU_PARTS_FROM_BITS = 22
};

/* Rows whose bits are set first, so that most keys that repeat are noticed before any row is moved. */
enum { FIRST_ROWS = 1 << 16 };

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint32_t bits_of(uint64_t x)
{
    uint32_t bits = 0;
    for (; x; x >>= 1)
        ++bits;
    return bits;
}

/* How many bits tell the parts of n rows apart; 0: all are one part. */
static uint32_t parts_bits(const kr_device *device, uint64_t n)
{
    const uint32_t bits = n ? bits_of(n - 1) : 0;
    if (!device->ops->is_host)
        return bits > GPU_PARTS_FROM_BITS ? GPU_PARTS_BITS : 0;
    return bits <= CPU_PARTS_FROM_BITS             ? 0
           : bits - CPU_PART_BITS < CPU_PARTS_BITS ? bits - CPU_PART_BITS
                                                   : CPU_PARTS_BITS;
}

/* The sort that moves the rows; end_bit 0: none does. */
static kr_sort parts_sort(const kr_device *device, uint64_t n, uint64_t n_blocks)
{
    const uint32_t parts = parts_bits(device, n), end = DIRECT_SPOT_BITS + bits_of(n_blocks - 1);
    kr_sort sort = {.key_bits = 32, .first_bit = DIRECT_SPOT_BITS, .n = n};
    if (!parts || end == DIRECT_SPOT_BITS)
        return sort;
    sort.end_bit = end;
    if (end > DIRECT_SPOT_BITS + parts)
        sort.first_bit = end - parts;
    return sort;
}

static int finds_repeats(kr_work *w, const direct_scatter_params *p)
{
    uint64_t found = 0;
    kr_work_run(w, &KR_W(direct_mark), p, p->n);
    kr_work_read(w, &found, p->found, sizeof found);
    return found != 0;
}

static uint64_t blocks_nbytes(const direct_view *view)
{
    return (uint64_t)view->n_blocks * DIRECT_BLOCK_NBYTES;
}

int KR_W(direct_repeats_early)(kr_work *w, const kr_coded *codes, const direct_view *view)
{
    const uint32_t mark = kr_work_mark(w);
    direct_scatter_params p = {.view = *view, .keys = codes->keys, .n = FIRST_ROWS, .part_bits = 32};
    if (view->n <= FIRST_ROWS)
        return 0;
    p.found = kr_work_counters(w, 1);
    p.spots = kr_work_take(w, p.n * sizeof *p.spots, "bits of the first rows");
    kr_work_fill(w, view->blocks, 0, blocks_nbytes(view));
    kr_work_run(w, &KR_W(direct_spots), &p, p.n);
    const int repeats = finds_repeats(w, &p);
    kr_work_give_since(w, mark);
    return repeats;
}

/* Rows of a part become neighbours. What the spots lay in before is room for row ids. */
static void part(kr_work *w, direct_scatter_params *p)
{
    kr_sort sort = parts_sort(w->device, p->n, p->view.n_blocks);
    if (!sort.end_bit)
        return;
    uint32_t *spots = kr_work_take(w, p->n * sizeof *spots, "bits of rows, in parts"),
             *rows = kr_work_take(w, p->n * sizeof *rows, "row ids, in parts");
    sort.keys_in = p->spots;
    sort.keys_out = spots;
    sort.rows_in = p->row_ids;
    sort.rows_out = rows;
    kr_work_sort(w, &sort);
    p->view.rows = p->spots;
    p->spots = spots;
    p->row_ids = rows;
    p->part_bits = sort.first_bit;
}

static void place(kr_work *w, direct_scatter_params *p)
{
    direct_view *v = &p->view;
    const uint64_t n_counts = (uint64_t)v->n_blocks + 1;
    p->counts = kr_work_take(w, n_counts * sizeof *p->counts, "counts of keys");
    kr_work_run(w, &KR_W(direct_counts), p, v->n_blocks);
    kr_work_sum(w, p->counts, n_counts);
    kr_work_run(w, &KR_W(direct_put_ranks), p, v->n_blocks);
    kr_work_give(w, p->counts);
    if (!v->rows)
        v->rows = kr_work_take(w, p->n * sizeof *v->rows, "row ids");
    kr_work_run(w, &KR_W(direct_place), p, p->n);
    v->n_keys = (uint32_t)p->n;
}

int KR_W(direct_scatter)(kr_work *w, const kr_coded *codes, direct_view *view)
{
    const uint64_t nbytes = blocks_nbytes(view);
    const uint32_t mark = kr_work_mark(w);
    if (!kr_work_goes_on(w) || view->n_blocks > DIRECT_SPOT_BLOCKS_MOST)
        return 0;
    direct_scatter_params p = {
        .view = *view, .keys = codes->keys, .row_ids = codes->list.rows, .n = view->n, .part_bits = 32};
    uint32_t *blocks = kr_work_take_or(w, nbytes, "bits of keys", "kind pivot");
    p.view.blocks = blocks;
    int repeats = KR_W(direct_repeats_early)(w, codes, &p.view);
    if (!repeats) {
        p.found = kr_work_counters(w, 1);
        p.spots = kr_work_take(w, p.n * sizeof *p.spots, "bits of rows");
        kr_work_fill(w, blocks, 0, nbytes);
        kr_work_run(w, &KR_W(direct_spots), &p, p.n);
        part(w, &p);
        repeats = finds_repeats(w, &p);
    }
    if (repeats || !kr_work_goes_on(w)) {
        kr_work_give_since(w, mark);
        return 0;
    }
    place(w, &p);
    if (p.part_bits < 32)
        kr_work_give(w, p.row_ids);
    kr_work_give(w, p.spots);
    kr_work_give(w, p.found);
    *view = p.view;
    return 1;
}

/* Follows direct_scatter allocation by allocation. */
uint64_t KR_W(direct_scatter_estimate)(const kr_shape *shape, uint64_t n_blocks)
{
    static const uint32_t given; /* only whether rows_in is NULL matters */
    const uint64_t n = shape->count, ids = n * sizeof(uint32_t), counter = sizeof(uint64_t);
    if (!n)
        return 0;
    if (n_blocks > DIRECT_SPOT_BLOCKS_MOST)
        n_blocks = DIRECT_SPOT_BLOCKS_MOST;
    kr_sort sort = parts_sort(shape->device, n, n_blocks);
    sort.rows_in = shape->has_validity || shape->has_row_ids ? &given : NULL;
    const uint64_t bits = n_blocks * DIRECT_BLOCK_NBYTES + counter,
                   ranks =
                       (n_blocks + 1) * sizeof(uint64_t) + kr_device_scan_temp(shape->device, n_blocks + 1);
    if (!sort.end_bit)
        return bits + ids + larger(ranks, ids);
    return bits + 3 * ids + larger(ranks, kr_device_sort_temp(shape->device, &sort));
}
