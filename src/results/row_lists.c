#include "results/row_lists.h"
#include "results/reduce.h"
#include "results/row_lists_body.h"

kr_status kr_row_lists_offsets(kr_device *device, const kr_match *matches, uint64_t n, uint64_t limit,
                               uint64_t *offsets, kr_stream *stream, kr_error *err)
{
    const length_params params = {matches, offsets, limit};
    kr_status status = kr_device_fill(device, offsets + n, 0, sizeof *offsets, stream, err);
    if (status == KR_OK)
        status = kr_device_run(device, &row_lists_length, &params, n, stream, err);
    return status == KR_OK ? kr_device_exclusive_sum(device, offsets, n + 1, stream, err) : status;
}

/* At most so many groups share the work, and a group has at least so much that the search for its first match
 * is worth it. */
enum { GPU_GROUPS = 1 << 17, GPU_LEAST = 256, CPU_GROUPS = 1 << 12, CPU_LEAST = 4096 };

static kr_status copy(kr_device *device, const kr_row_lists_job *job, uint32_t *out, uint32_t *probes,
                      kr_stream *stream, kr_error *err)
{
    const int is_gpu = device->ops->group_threads > 1;
    const uint32_t least = is_gpu ? GPU_LEAST : CPU_LEAST, most = is_gpu ? GPU_GROUPS : CPU_GROUPS;
    const uint64_t wanted = (job->n + job->capacity) / least + 1, groups = wanted < most ? wanted : most;
    const copy_params params = {
        .matches = job->matches,
        .offsets = job->offsets,
        .view = job->rows->view,
        .out = out,
        .probes = probes,
        .base = job->base,
        .capacity = job->capacity,
        .n = job->n,
        .skip = job->skip,
        .first_probe = job->first_probe,
        .groups = (uint32_t)groups,
        .least = least,
    };
    return kr_device_run(device, job->rows->walk->copy, &params, groups * device->ops->group_threads, stream,
                         err);
}

kr_status kr_row_lists_copy(kr_device *device, const kr_row_lists_job *job, kr_stream *stream, kr_error *err)
{
    return copy(device, job, job->out, job->probes, stream, err);
}

/* Row ids and the matches they belong to, and room to sort both into. */
typedef struct pairs {
    kr_buffer rows, probes, rows_sorted, probes_sorted;
} pairs;

static kr_status allocate_pairs(kr_device *device, uint64_t n, kr_stream *stream, pairs *made, kr_error *err)
{
    kr_buffer *const all[] = {&made->rows, &made->probes, &made->rows_sorted, &made->probes_sorted};
    kr_status status = KR_OK;
    for (int i = 0; i < 4 && status == KR_OK; ++i)
        status = kr_buffer_allocate(device, n * sizeof(uint32_t), stream, "ordering row ids",
                                    "use KR_ORDER_KEY or kr_index_lookup_chunks", all[i], err);
    return status;
}

static void release_pairs(kr_device *device, kr_stream *stream, pairs *made)
{
    kr_buffer *const all[] = {&made->probes_sorted, &made->rows_sorted, &made->probes, &made->rows};
    for (int i = 0; i < 4; ++i)
        kr_buffer_release(device, all[i], stream);
}

static uint32_t bits_of(uint64_t largest)
{
    return largest >> 32 ? 32 : 32 - kr_clz32((uint32_t)largest);
}

/* Pairs that are sorted. Where device memory is host memory, they are counted by now. Elsewhere they are as
 * many as there is room for, and those that the copy does not write sort behind the last match. */
static uint64_t count_pairs(const kr_device *device, const kr_row_lists_job *job)
{
    const uint64_t total = device->ops->is_host ? job->offsets[job->n] - job->base : job->capacity;
    return total < job->capacity ? total : job->capacity;
}

static kr_status clear_pairs(kr_device *device, const pairs *p, kr_stream *stream, kr_error *err)
{
    if (device->ops->is_host)
        return KR_OK;
    const kr_status status = kr_device_fill(device, p->rows.data, 0xFF, p->rows.nbytes, stream, err);
    return status == KR_OK ? kr_device_fill(device, p->probes.data, 0xFF, p->probes.nbytes, stream, err)
                           : status;
}

/* Two stable sorts, by row id and then by match. Their scratch memory depends on the room alone, as prepared
 * work must have it (devices/arena.h). */
static kr_status sort_pairs(kr_device *device, const kr_row_lists_job *job, const pairs *p, kr_stream *stream,
                            kr_error *err)
{
    const kr_sort by_row = {.key_bits = 32,
                            .end_bit = bits_of(job->row_limit),
                            .n = count_pairs(device, job),
                            .keys_in = p->rows.data,
                            .keys_out = p->rows_sorted.data,
                            .rows_in = p->probes.data,
                            .rows_out = p->probes_sorted.data};
    const kr_sort by_probe = {.key_bits = 32,
                              .end_bit = bits_of(job->n),
                              .n = by_row.n,
                              .keys_in = p->probes_sorted.data,
                              .keys_out = job->probes ? job->probes : p->probes.data,
                              .rows_in = p->rows_sorted.data,
                              .rows_out = job->out};
    const kr_status status = kr_device_sort_some(device, &by_row, job->capacity, stream, err);
    return status == KR_OK ? kr_device_sort_some(device, &by_probe, job->capacity, stream, err) : status;
}

kr_status kr_row_lists_copy_ascending(kr_device *device, const kr_row_lists_job *job, kr_stream *stream,
                                      kr_error *err)
{
    pairs p = {{0}, {0}, {0}, {0}};
    kr_status status = allocate_pairs(device, job->capacity, stream, &p, err);
    if (status == KR_OK)
        status = clear_pairs(device, &p, stream, err);
    if (status == KR_OK)
        status = copy(device, job, p.rows.data, p.probes.data, stream, err);
    if (status == KR_OK)
        status = sort_pairs(device, job, &p, stream, err);
    release_pairs(device, stream, &p);
    return status;
}
