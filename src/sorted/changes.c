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
static kr_status make_each(kr_device *device, const kr_update *job, const uint64_t *seed, int sorted,
                           kr_changes *made, kr_error *err)
{
    const kr_build deletes = {.device = device, .stream = job->stream, .keys = job->delete_keys};
    const kr_build inserts = {
        .device = device, .stream = job->stream, .keys = job->insert_keys, .row_ids = job->insert_rows};
    kr_status status = KR_OK;
    if (deletes.keys.count)
        status = kr_sorted_sort(&deletes, seed, &made->deletes, err);
    if (status == KR_OK && inserts.keys.count)
        status = sorted ? kr_sorted_sort(&inserts, seed, &made->inserts, err)
                        : kr_sorted_list(&inserts, *seed, &made->inserts, err);
    if (status == KR_OK && !job->insert_rows && made->inserts.n) {
        const shift_params params = {made->inserts.rows.data, job->next_row};
        status = kr_device_run(device, &sorted_shift_rows, &params, made->inserts.n, job->stream, err);
    }
    return status;
}

/* Gives out what was made, or releases it. */
static kr_status give(kr_device *device, const kr_update *job, kr_status status, kr_changes *made,
                      kr_changes *changes)
{
    kr_stopwatch_lap(job->watch, "sort");
    if (status == KR_OK)
        *changes = *made;
    else
        kr_changes_release(device, job->stream, made);
    return status;
}

kr_status kr_changes_make(kr_device *device, const kr_update *job, const uint64_t *seed, kr_changes *changes,
                          kr_error *err)
{
    kr_changes made = {.deletes = {.n = 0}};
    const kr_status status = is_small(job) ? sort_small(device, job, seed, &made, err)
                                           : make_each(device, job, seed, 1, &made, err);
    return give(device, job, status, &made, changes);
}

kr_status kr_changes_list(kr_device *device, const kr_update *job, uint64_t seed, kr_changes *changes,
                          kr_error *err)
{
    kr_changes made = {.deletes = {.n = 0}};
    return give(device, job, make_each(device, job, &seed, 0, &made, err), &made, changes);
}
