#include "index/results/row_lists.h"
#include "index/results/reduce.h"
#include "index/results/row_lists_body.h"

void kr_row_lists_offsets(kr_work *w, const kr_match *matches, uint64_t n, uint64_t limit, uint64_t *offsets)
{
    const length_params params = {matches, offsets, limit};
    kr_work_fill(w, KR_PLACE_IN(offsets, n), 0, sizeof *offsets);
    kr_work_run(w, &row_lists_length, &params, n);
    kr_work_sum(w, offsets, n + 1);
}

/* At most so many groups share the work, and a group has at least so much that the search for its first match
 * is worth it. */
enum { GPU_GROUPS = 1 << 17, GPU_LEAST = 256, CPU_GROUPS = 1 << 12, CPU_LEAST = 4096 };

static void copy(kr_work *w, const kr_row_lists_job *job, uint32_t *out, uint32_t *probes)
{
    const kr_device *device = w->device;
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
    kr_work_run(w, job->rows->walk->copy, &params, groups * device->ops->group_threads);
}

void kr_row_lists_copy(kr_work *w, const kr_row_lists_job *job)
{
    copy(w, job, job->out, job->probes);
}

/* Row ids and the matches they belong to, and room to sort both into. */
typedef struct pairs {
    uint32_t *rows, *probes, *rows_sorted, *probes_sorted;
} pairs;

static uint32_t *take(kr_work *w, uint64_t n)
{
    return kr_work_take_or(w, n * sizeof(uint32_t), "ordering row ids",
                           "use KR_ORDER_KEY or kr_index_lookup_chunks");
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

static void clear_pairs(kr_work *w, const pairs *p, uint64_t n)
{
    if (w->device->ops->is_host)
        return;
    kr_work_fill(w, p->rows, 0xFF, n * sizeof *p->rows);
    kr_work_fill(w, p->probes, 0xFF, n * sizeof *p->probes);
}

/* Two stable sorts, by row id and then by match. Their scratch memory depends on the room alone, as prepared
 * work must have it (base/devices/arena.h). */
static void sort_pairs(kr_work *w, const kr_row_lists_job *job, const pairs *p)
{
    if (!kr_work_goes_on(w)) /* offsets are not to be read */
        return;
    const kr_sort by_row = {.key_bits = 32,
                            .end_bit = bits_of(job->row_limit),
                            .n = count_pairs(w->device, job),
                            .keys_in = p->rows,
                            .keys_out = p->rows_sorted,
                            .rows_in = p->probes,
                            .rows_out = p->probes_sorted};
    const kr_sort by_probe = {.key_bits = 32,
                              .end_bit = bits_of(job->n),
                              .n = by_row.n,
                              .keys_in = p->probes_sorted,
                              .keys_out = job->probes ? job->probes : p->probes,
                              .rows_in = p->rows_sorted,
                              .rows_out = job->out};
    kr_work_sort_some(w, &by_row, job->capacity);
    kr_work_sort_some(w, &by_probe, job->capacity);
}

void kr_row_lists_copy_ascending(kr_work *w, const kr_row_lists_job *job)
{
    const uint32_t mark = kr_work_mark(w);
    pairs p = {.rows = take(w, job->capacity)};
    p.probes = take(w, job->capacity);
    p.rows_sorted = take(w, job->capacity);
    p.probes_sorted = take(w, job->capacity);
    clear_pairs(w, &p, job->capacity);
    copy(w, job, p.rows, p.probes);
    sort_pairs(w, job, &p);
    kr_work_give_since(w, mark);
}
