#include "index/partition/partition.h"
#include "index/partition/partition_width_body.h"

/* Small batches are cut into small tiles, so that all multiprocessors have some. */
enum { TILES_LEAST = 256, SMALL_TILE = 2048 };

static int way_of(const kr_partition_job *job)
{
    return job->pairs  ? PARTITION_PAIRS
           : job->cut  ? PARTITION_BY_CUTS
           : job->even ? PARTITION_EVEN
                       : PARTITION_HASHED;
}

/* Bytes of shared memory for a tile of so many probes. */
static uint32_t room_nbytes(const kr_partition_job *job, uint32_t tile)
{
    const uint32_t parts = 1u << job->bits, each = job->pairs ? 8 : sizeof(kr_key) + 4,
                   cuts = job->cut ? parts * sizeof(kr_key) + PARTITION_CELLS * 4 : 0;
    return cuts + parts * 4 + tile * each;
}

static uint32_t tile_of(const kr_device *device, const kr_partition_job *job)
{
    uint32_t tile = device->ops->group_threads == 1 ? PARTITION_TILE_CPU : PARTITION_TILE;
    while (tile > SMALL_TILE && job->n / tile < TILES_LEAST)
        tile /= 2;
    while (room_nbytes(job, tile) > device->block_nbytes && tile > 64)
        tile /= 2;
    return tile;
}

/* The smallest shift that makes the distance from the lowest to the highest key the number of a cell. */
static uint32_t shift_of(uint64_t range)
{
    uint32_t shift = 0;
    while (range >> shift >> PARTITION_TABLE_BITS)
        ++shift;
    return shift;
}

static uint64_t tiles_of(const kr_partition *made)
{
    return (made->n + made->tile - 1) / made->tile;
}

static uint64_t most_segments(const kr_partition_job *job)
{
    return job->n / job->segment + ((uint64_t)1 << job->bits);
}

static uint64_t parts_nbytes(const kr_partition_job *job)
{
    const uint64_t parts = (uint64_t)1 << job->bits;
    return most_segments(job) * sizeof(kr_segment) + parts * sizeof(kr_key) +
           (parts * 4 + 2 + PARTITION_CELLS) * sizeof(uint32_t);
}

uint64_t KR_W(kr_partition_estimate)(const kr_partition_job *job)
{
    return job->n * (job->pairs ? sizeof(uint64_t) : sizeof(kr_key)) + parts_nbytes(job);
}

static void allocate(kr_work *w, const kr_partition_job *job, int order, kr_partition *made)
{
    const char *help = "use probes=as-is";
    const uint64_t each = job->n * sizeof(uint32_t);
    made->parts = kr_work_take_or(w, parts_nbytes(job), "the parts of a batch", help);
    if (job->pairs) {
        made->pairs = kr_work_take(w, job->n * sizeof *made->pairs, "pairs of values and positions");
        return;
    }
    made->codes = kr_work_take_or(w, job->n * sizeof(kr_key), "partitioned probes", help);
    if (!job->stay) {
        made->marks = kr_work_take_or(w, each, "the marks of probes", help);
        made->bases =
            kr_work_take_or(w, tiles_of(made) * sizeof *made->bases << job->bits, "the places of runs", help);
    }
    if (order)
        made->order = kr_work_take_or(w, each, "the order of probes", help);
}

/* Lays out everything in `parts`, widest first. */
static partition_params params_of(const kr_partition_job *job, const kr_batch *batch, kr_partition *made)
{
    const uint64_t parts = (uint64_t)1 << job->bits;
    partition_params p = {.batch = *batch,
                          .n = job->n,
                          .bits = job->bits,
                          .segment = job->segment,
                          .tile = made->tile,
                          .seed = job->seed};
    uint64_t lowest = 0, highest = 0;
    p.segments = made->parts;
    p.cuts = (const kr_key *)(p.segments + made->view.most_segments);
    p.counts = (uint32_t *)(p.cuts + parts);
    p.cursors = p.counts + parts;
    p.first_segments = p.cursors + parts;
    p.starts = p.first_segments + parts;
    p.n_segments = p.starts + parts + 1;
    p.table = p.n_segments + 1;
    p.codes = made->codes;
    p.pairs = made->pairs;
    p.marks = made->marks;
    p.bases = made->bases;
    p.order = job->stay ? job->stay : made->order;
    if (job->cut) {
        job->cut->key_range(job->self, &lowest, &highest);
        p.lowest = (kr_key)lowest;
        p.shift = shift_of(highest - lowest);
    } else if (job->even) {
        p.lowest = (kr_key)job->lowest;
        p.even = (kr_key)job->even;
        kr_code_divisor(job->step, KR_KEY_BITS, &p.step_magic, &p.step_shift);
        kr_code_divisor(job->even, KR_KEY_BITS, &p.magic, &p.shift);
    }
    made->view.starts = p.starts;
    made->view.segments = p.segments;
    made->view.n_segments = p.n_segments;
    return p;
}

/* Cuts and their table, and counters at 0. */
static void prepare(kr_work *w, const kr_partition_job *job, const partition_params *p)
{
    if (!job->cut) {
        kr_work_fill(w, p->counts, 0, sizeof(uint32_t) << job->bits);
        return;
    }
    job->cut->cuts(w, job->self, job->bits, (void *)p->cuts);
    kr_work_run(w, &KR_W(partition_table), p, PARTITION_CELLS);
}

static void run_passes(kr_work *w, const kr_partition_job *job, partition_params *p, uint64_t n_tiles)
{
    static const kr_program *const counts[] = {&KR_W(partition_count_cut), &KR_W(partition_count_even),
                                               &KR_W(partition_count_hashed), &KR_W(partition_count_even)};
    static const kr_program *const places[] = {&KR_W(partition_place_cut), &KR_W(partition_place_even),
                                               &KR_W(partition_place_hashed), &KR_W(partition_place_pairs)};
    const int way = way_of(job);
    prepare(w, job, p);
    p->blocks = (kr_blocks){room_nbytes(job, 0), 2};
    kr_work_run(w, counts[way], p, n_tiles);
    p->blocks = (kr_blocks){0, 0};
    kr_work_run(w, &KR_W(partition_plan), p, 1);
    p->blocks = (kr_blocks){room_nbytes(job, p->tile), 1};
    kr_work_run(w, places[way], p, n_tiles);
}

kr_partition KR_W(kr_partition_make)(kr_work *w, const kr_partition_job *job, kr_batch *batch)
{
    const int order = !job->stay && !job->pairs && (job->with_order || batch->upper || batch->lower_validity);
    kr_partition made = {
        .view = {.segment = job->segment, .bits = job->bits, .most_segments = most_segments(job)},
        .n = job->n,
        .tile = tile_of(w->device, job),
    };
    allocate(w, job, order, &made);
    if (!kr_work_goes_on(w))
        return made;
    partition_params params = params_of(job, batch, &made);
    run_passes(w, job, &params, tiles_of(&made));
    if (job->pairs)
        return made;
    batch->order = params.order;
    batch->lower = made.codes;
    batch->lower_type = KR_RAW_KEY;
    return made;
}
