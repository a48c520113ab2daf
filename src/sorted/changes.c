#include "sorted/changes.h"
#include "sorted/changes_body.h"

void kr_changes_release(kr_device *device, kr_stream *stream, kr_changes *changes)
{
    kr_sorted_release(device, &changes->inserts, stream);
    kr_sorted_release(device, &changes->deletes, stream);
}

/* ---- One sort for both halves ---------------------------------------------------------------- */

/* Rows of small batches, of which a sort takes as long as its launches do. */
enum { SMALL = 1 << 18 };

static int is_small(const kr_update *job)
{
    const kr_column *deletes = &job->delete_keys, *inserts = &job->insert_keys;
    return deletes->count && inserts->count && deletes->count + inserts->count <= SMALL &&
           kr_type_key_bits(inserts->type) == 32 && !deletes->validity && !inserts->validity &&
           !job->insert_rows;
}

static kr_status allocate_small(kr_device *device, const kr_update *job, kr_changes *made, kr_buffer *packed,
                                kr_error *err)
{
    const uint64_t deletes = job->delete_keys.count, inserts = job->insert_keys.count;
    kr_stream *stream = job->stream;
    made->deletes.n = deletes;
    made->inserts.n = inserts;
    kr_status status = kr_buffer_allocate(device, deletes * sizeof(uint32_t), stream, "keys to delete", NULL,
                                          &made->deletes.keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, inserts * sizeof(uint32_t), stream, "keys to insert", NULL,
                                    &made->inserts.keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, inserts * sizeof(uint32_t), stream, "their row ids", NULL,
                                    &made->inserts.rows, err);
    if (status == KR_OK) /* unsorted, sorted, and in which order */
        status = kr_buffer_allocate(device, (deletes + inserts) * (2 * sizeof(uint64_t) + sizeof(uint32_t)),
                                    stream, "a batch to sort", NULL, packed, err);
    return status;
}

static kr_status sort_small(kr_device *device, const kr_update *job, const uint64_t *seed, kr_changes *made,
                            kr_error *err)
{
    const uint64_t deletes = job->delete_keys.count, n = deletes + job->insert_keys.count;
    kr_buffer packed = {0};
    kr_status status = allocate_small(device, job, made, &packed, err);
    uint64_t *unsorted = packed.data, *sorted = unsorted ? unsorted + n : NULL;
    uint32_t *order = sorted ? (uint32_t *)(sorted + n) : NULL;
    const pack_params pack = {.deletes = job->delete_keys.data,
                              .inserts = job->insert_keys.data,
                              .packed = unsorted,
                              .n_deletes = deletes,
                              .seed = seed ? *seed : 0,
                              .type = (uint32_t)job->insert_keys.type,
                              .hashed = seed != NULL};
    const kr_sort sort = {
        .key_bits = 64, .end_bit = 33, .n = n, .keys_in = unsorted, .keys_out = sorted, .rows_out = order};
    const unpack_params unpack = {
        sorted,  order,        made->deletes.keys.data, made->inserts.keys.data, made->inserts.rows.data,
        deletes, job->next_row};
    if (status == KR_OK)
        status = kr_device_run(device, &sorted_pack_changes, &pack, n, job->stream, err);
    if (status == KR_OK)
        status = kr_device_sort(device, &sort, job->stream, err);
    if (status == KR_OK)
        status = kr_device_run(device, &sorted_unpack_changes, &unpack, n, job->stream, err);
    kr_buffer_release(device, &packed, job->stream);
    return status;
}

/* ---- A sort for each ------------------------------------------------------------------------- */

/* Without a watch: each phase would wait for the device. */
static kr_build build_of(kr_device *device, const kr_update *job, int inserts)
{
    return (kr_build){.device = device,
                      .stream = job->stream,
                      .keys = inserts ? job->insert_keys : job->delete_keys,
                      .row_ids = inserts ? job->insert_rows : NULL};
}

static kr_status sort_one(kr_device *device, const kr_update *job, const uint64_t *seed, int inserts,
                          kr_sorted *made, kr_error *err)
{
    const kr_build build = build_of(device, job, inserts);
    return build.keys.count ? kr_sorted_sort(&build, seed, made, err) : KR_OK;
}

/* Row ids that are not given count from zero until here. */
static kr_status shift_rows(kr_device *device, const kr_update *job, uint32_t *rows, uint64_t n,
                            kr_error *err)
{
    const shift_params params = {rows, job->next_row};
    return job->insert_rows || !n ? KR_OK
                                  : kr_device_run(device, &sorted_shift_rows, &params, n, job->stream, err);
}

static kr_status sort_each(kr_device *device, const kr_update *job, const uint64_t *seed, kr_changes *made,
                           kr_error *err)
{
    kr_status status = sort_one(device, job, seed, 0, &made->deletes, err);
    if (status == KR_OK)
        status = sort_one(device, job, seed, 1, &made->inserts, err);
    return status == KR_OK ? shift_rows(device, job, made->inserts.rows.data, made->inserts.n, err) : status;
}

kr_status kr_changes_make(kr_device *device, const kr_update *job, const uint64_t *seed, kr_changes *changes,
                          kr_error *err)
{
    kr_changes made = {.deletes = {.n = 0}};
    const kr_status status =
        is_small(job) ? sort_small(device, job, seed, &made, err) : sort_each(device, job, seed, &made, err);
    kr_stopwatch_lap(job->watch, "sort");
    if (status == KR_OK)
        *changes = made;
    else
        kr_changes_release(device, job->stream, &made);
    return status;
}

kr_status kr_changes_deletes(kr_device *device, const kr_update *job, uint64_t seed, kr_sorted *deletes,
                             kr_error *err)
{
    return sort_one(device, job, &seed, 0, deletes, err);
}

kr_status kr_changes_list(kr_device *device, const kr_update *job, uint64_t seed, kr_listed *inserts,
                          kr_error *err)
{
    const kr_build build = build_of(device, job, 1);
    const kr_status status = kr_sorted_list(&build, seed, inserts, err);
    return status == KR_OK ? shift_rows(device, job, inserts->rows, inserts->n, err) : status;
}
