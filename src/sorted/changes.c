#include "sorted/changes.h"
#include "sorted/changes_body.h"

void kr_changes_release(kr_device *device, kr_stream *stream, kr_changes *changes)
{
    kr_sorted_release(device, &changes->inserts, stream);
    kr_sorted_release(device, &changes->deletes, stream);
}

kr_status kr_changes_make(kr_device *device, const kr_update *job, const uint64_t *seed, kr_changes *changes,
                          kr_error *err)
{
    /* Without a watch: each phase would wait for the device. */
    const kr_build deletes = {.device = device, .stream = job->stream, .keys = job->delete_keys};
    kr_build inserts = deletes;
    kr_changes made = {.deletes = {.n = 0}};
    kr_status status = KR_OK;
    inserts.keys = job->insert_keys;
    inserts.row_ids = job->insert_rows;
    if (job->delete_keys.count)
        status = kr_sorted_sort(&deletes, seed, &made.deletes, err);
    if (status == KR_OK && job->insert_keys.count)
        status = kr_sorted_sort(&inserts, seed, &made.inserts, err);
    if (status == KR_OK && !job->insert_rows && made.inserts.n) {
        const shift_params params = {made.inserts.rows.data, job->next_row};
        status = kr_device_run(device, &sorted_shift_rows, &params, made.inserts.n, job->stream, err);
    }
    kr_stopwatch_lap(job->watch, "sort");
    if (status == KR_OK)
        *changes = made;
    else
        kr_changes_release(device, job->stream, &made);
    return status;
}
