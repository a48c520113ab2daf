#include "results/row_ids.h"
#include "results/params.h"
#include "results/row_ids_body.h"

kr_status kr_rows_summarize(kr_device *device, const kr_rows *rows, const kr_buffer *counters,
                            kr_stream *stream, kr_rows_summary *summary, kr_error *err)
{
    const held_params params = {.view = rows->view, .counters = counters->data};
    uint64_t found[KR_HELD_COUNTERS] = {0};
    kr_assert_fits(found, KR_ROWS_COUNTERS * sizeof(uint64_t));
    kr_status status = kr_device_fill(device, counters->data, 0, sizeof found, stream, err);
    if (status == KR_OK)
        status = kr_device_run(device, rows->walk->most, &params, rows->n_slots, stream, err);
    if (status == KR_OK)
        status = kr_counters_read(device, stream, counters, found, KR_HELD_COUNTERS, err);
    if (status == KR_OK)
        *summary = (kr_rows_summary){found[KR_HELD_MOST], found[KR_HELD_COUNT]};
    return status;
}

kr_status kr_ids_check(kr_device *device, const uint32_t *ids, uint64_t n, kr_stream *stream,
                       uint64_t found[2], kr_error *err)
{
    kr_buffer counters = {0};
    kr_status status = kr_counters_make(device, stream, 2, &counters, err);
    if (status == KR_OK) {
        const check_rows_params params = {ids, counters.data};
        status = kr_device_run(device, &rows_check, &params, n, stream, err);
    }
    if (status == KR_OK)
        status = kr_counters_read(device, stream, &counters, found, 2, err);
    kr_buffer_release(device, &counters, stream);
    return status;
}

/* ---- Whether row ids are distinct: by a bitmap where they are dense, else by sorting ------------------ */

static kr_status count_by_bitmap(kr_device *device, const kr_rows *rows, uint64_t end, uint64_t *distinct,
                                 kr_error *err)
{
    kr_buffer bitmap = {0}, counters = {0};
    kr_status status = kr_counters_make(device, NULL, 1, &counters, err);
    if (status == KR_OK)
        status =
            kr_buffer_allocate(device, (end / 32 + 1) * 4, NULL, "a bitmap of row ids", NULL, &bitmap, err);
    if (status == KR_OK)
        status = kr_device_fill(device, bitmap.data, 0, bitmap.nbytes, NULL, err);
    const held_params held = {.view = rows->view, .bitmap = bitmap.data};
    const count_marked_params marked = {bitmap.data, counters.data};
    if (status == KR_OK)
        status = kr_device_run(device, rows->walk->mark, &held, rows->n_slots, NULL, err);
    if (status == KR_OK)
        status = kr_device_run(device, &rows_count_marked, &marked, end / 32 + 1, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, distinct, 1, err);
    kr_buffer_release(device, &bitmap, NULL);
    kr_buffer_release(device, &counters, NULL);
    return status;
}

/* Slots without a row are sorted behind the others. */
static kr_status count_by_sorting(kr_device *device, const kr_rows *rows, uint64_t count, uint64_t *distinct,
                                  kr_error *err)
{
    const uint64_t n = rows->n_slots, nbytes = n * sizeof(uint32_t);
    kr_buffer ids = {0}, sorted = {0}, positions = {0};
    uint64_t found[2] = {0};
    kr_status status = kr_buffer_allocate(device, nbytes, NULL, "row ids", NULL, &ids, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, nbytes, NULL, "sorted row ids", NULL, &sorted, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, nbytes, NULL, "their positions", NULL, &positions, err);
    const held_params held = {.view = rows->view, .ids = ids.data};
    if (status == KR_OK)
        status = kr_device_run(device, rows->walk->list, &held, n, NULL, err);
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = n,
                          .keys_in = ids.data,
                          .keys_out = sorted.data,
                          .rows_out = positions.data};
    if (status == KR_OK)
        status = kr_device_sort(device, &sort, NULL, err);
    if (status == KR_OK)
        status = kr_ids_check(device, sorted.data, count, NULL, found, err);
    kr_buffer_release(device, &positions, NULL);
    kr_buffer_release(device, &sorted, NULL);
    kr_buffer_release(device, &ids, NULL);
    *distinct = count - found[0];
    return status;
}

static kr_status check_distinct(kr_device *device, const kr_rows *rows, const kr_rows_summary *summary,
                                kr_error *err)
{
    uint64_t distinct = 0;
    const kr_status status = summary->end / 8 <= rows->n_slots * sizeof(uint32_t)
                                 ? count_by_bitmap(device, rows, summary->end, &distinct, err)
                                 : count_by_sorting(device, rows, summary->count, &distinct, err);
    if (status == KR_OK && distinct != summary->count)
        return kr_fail(err, KR_ERR_INVARIANT, "row ids are not distinct: %llu entries, %llu different ids",
                       (unsigned long long)summary->count, (unsigned long long)distinct);
    return status;
}

kr_status kr_rows_validate(kr_device *device, const kr_rows *rows, kr_error *err)
{
    kr_rows_summary summary = {0};
    kr_buffer counters = {0};
    kr_status status = kr_counters_make(device, NULL, KR_ROWS_COUNTERS, &counters, err);
    if (status == KR_OK)
        status = kr_rows_summarize(device, rows, &counters, NULL, &summary, err);
    kr_buffer_release(device, &counters, NULL);
    if (status == KR_OK && summary.count != rows->n_rows)
        return kr_fail(err, KR_ERR_INVARIANT, "%llu slots hold a row id, but the index has %llu rows",
                       (unsigned long long)summary.count, (unsigned long long)rows->n_rows);
    return status == KR_OK && rows->n_rows ? check_distinct(device, rows, &summary, err) : status;
}
