#include "lookup/partition.h"
#include "lookup/partition_body.h"

enum { SEGMENT = 8192 };

/* Bytes of shared memory for a tile of so many probes. */
static uint32_t room_nbytes(const partition_params *p, uint32_t tile)
{
    const uint32_t parts = 1u << p->bits,
                   cuts = p->cuts ? parts * sizeof(kr_key) + PARTITION_TABLE_ROOM * 2 : 0;
    return cuts + parts * 2 * 4 + tile * (uint32_t)(sizeof(kr_key) + 2 + (p->order ? 2 : 0));
}

static int has_cuts(const kr_partition_job *job)
{
    return job->ops->ordered && job->ops->ordered->cuts;
}

/* The smallest shift that makes the distance from the lowest to the highest key the number of a cell. */
static uint32_t shift_of(uint64_t range)
{
    uint32_t shift = 0;
    while (range >> shift >> PARTITION_TABLE_BITS)
        ++shift;
    return shift;
}

static kr_status allocate(const kr_partition_job *job, int order, kr_partition *made, kr_error *err)
{
    const char *help = "use probes=as-is";
    const uint64_t parts = (uint64_t)1 << job->bits;
    made->view.segment = SEGMENT;
    made->view.bits = job->bits;
    made->view.most_segments = job->n / SEGMENT + parts;
    kr_status status = kr_buffer_allocate(job->device, job->n * sizeof(kr_key), job->stream,
                                          "partitioned probes", help, &made->codes, err);
    if (status == KR_OK && !job->stay)
        status = kr_buffer_allocate(job->device, job->n * sizeof(uint32_t), job->stream,
                                    "the places of probes", help, &made->places, err);
    if (status == KR_OK && order)
        status = kr_buffer_allocate(job->device, job->n * sizeof(uint32_t), job->stream,
                                    "the order of probes", help, &made->order, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(job->device,
                                    made->view.most_segments * sizeof(kr_segment) +
                                        parts * (sizeof(kr_key) + 3 * 4) + 2 * sizeof(uint32_t) +
                                        PARTITION_TABLE_ROOM * sizeof(uint16_t),
                                    job->stream, "the parts of a batch", help, &made->work, err);
    return status;
}

/* Lays out everything in `work`, widest first. */
static partition_params params_of(const kr_partition_job *job, const kr_batch *batch, kr_partition *made)
{
    const uint64_t parts = (uint64_t)1 << job->bits;
    partition_params p = {.batch = *batch, .n = job->n, .bits = job->bits, .segment = SEGMENT};
    uint64_t lowest = 0, highest = 0;
    p.segments = made->work.data;
    p.cuts = (const kr_key *)(p.segments + made->view.most_segments);
    p.counts = (uint32_t *)(p.cuts + parts);
    p.cursors = p.counts + parts;
    p.starts = p.cursors + parts;
    p.n_segments = p.starts + parts + 1;
    p.table = (uint16_t *)(p.n_segments + 1);
    p.codes = made->codes.data;
    p.places = made->places.data;
    p.order = job->stay ? job->stay : made->order.data;
    if (has_cuts(job)) {
        job->ops->ordered->key_range(job->self, &lowest, &highest);
        p.lowest = (kr_key)lowest;
        p.shift = shift_of(highest - lowest);
    } else {
        p.cuts = NULL;
        p.seed = job->ops->hash_seed(job->self);
    }
    p.tile = job->device->ops->group_threads == 1 ? PARTITION_TILE_CPU : PARTITION_TILE;
    while (room_nbytes(&p, p.tile) > job->device->block_nbytes && p.tile > 64)
        p.tile /= 2;
    made->view.starts = p.starts;
    made->view.segments = p.segments;
    made->view.n_segments = p.n_segments;
    return p;
}

static kr_status make_cuts(const kr_partition_job *job, const partition_params *p, kr_error *err)
{
    const kr_status status =
        job->ops->ordered->cuts(job->device, job->self, job->bits, (void *)p->cuts, job->stream, err);
    return status == KR_OK
               ? kr_device_run(job->device, &KR_W(partition_table), p, PARTITION_TABLE, job->stream, err)
               : status;
}

static kr_status run_passes(const kr_partition_job *job, partition_params *p, kr_error *err)
{
    const uint64_t n_tiles = (job->n + p->tile - 1) / p->tile;
    const kr_program *count = p->cuts ? &KR_W(partition_count_cut) : &KR_W(partition_count_hashed);
    const kr_program *place = p->cuts ? &KR_W(partition_place_cut) : &KR_W(partition_place_hashed);
    kr_status status = p->cuts ? make_cuts(job, p, err) : KR_OK;
    if (status == KR_OK)
        status = kr_device_fill(job->device, p->counts, 0, sizeof(uint32_t) << job->bits, job->stream, err);
    p->blocks = (kr_blocks){room_nbytes(p, 0), 2};
    if (status == KR_OK)
        status = kr_device_run(job->device, count, p, n_tiles, job->stream, err);
    p->blocks = (kr_blocks){0, 0};
    if (status == KR_OK)
        status = kr_device_run(job->device, &KR_W(partition_plan), p, 1, job->stream, err);
    p->blocks = (kr_blocks){room_nbytes(p, p->tile), 1};
    if (status == KR_OK)
        status = kr_device_run(job->device, place, p, n_tiles, job->stream, err);
    return status;
}

kr_status KR_W(kr_partition_make)(const kr_partition_job *job, kr_batch *batch, kr_partition *made,
                                  kr_error *err)
{
    kr_partition partition = {.n = job->n};
    const int order = !job->stay && (batch->upper || batch->lower_validity);
    kr_status status = allocate(job, order, &partition, err);
    if (status == KR_OK) {
        partition_params params = params_of(job, batch, &partition);
        status = run_passes(job, &params, err);
        batch->order = params.order;
    }
    if (status != KR_OK) {
        kr_partition_release(job->device, &partition, job->stream);
        return status;
    }
    batch->lower = partition.codes.data;
    batch->lower_type = KR_RAW_KEY;
    *made = partition;
    return KR_OK;
}
