#include "scans/answer.h"
#include "scans/merge.h"
#include "scans/run.h"
#include "scans/totals.h"

#include <stdlib.h>
#include <string.h>

uint64_t kr_scan_out_nbytes(const kr_table *table, const kr_scan_sink *sink)
{
    if (sink->result == KR_SCAN_BITMAP)
        return kr_bitmap_words(table->n_rows) * sizeof(uint32_t);
    if (sink->result == KR_SCAN_SUM_WIDE)
        return 2 * sizeof(uint64_t);
    if (sink->result == KR_SCAN_MIN || sink->result == KR_SCAN_MAX)
        return kr_type_nbytes(table->columns[sink->column].type);
    return sizeof(uint64_t);
}

static kr_device *device_of(const kr_answer *a)
{
    return a->table->device;
}

static int reaches_sink(const kr_answer_sink *sink)
{
    return sink->reaches_out && sink->reaches_valid && sink->reaches_rows;
}

static kr_status copy_out(const kr_answer *a, void *to, const void *from, uint64_t nbytes, kr_error *err)
{
    return to && to != from ? kr_device_copy(device_of(a), to, from, nbytes, a->context.stream, err) : KR_OK;
}

/* ---- One result ------------------------------------------------------------------------------ */

/* Where the size must be known first: host memory. */
static kr_status rows_to_host(const kr_answer *a, const kr_answer_sink *sink, const kr_selected *of,
                              const kr_selected_places *places, kr_error *err)
{
    kr_device *device = device_of(a);
    kr_buffer rows = {0};
    uint64_t n = 0;
    kr_status status =
        kr_device_copy(device, &n, kr_selected_places_total(places), sizeof n, a->context.stream, err);
    if (status == KR_OK)
        status = kr_device_sync(device, a->context.stream, err);
    if (status == KR_OK && sink->asked.rows && n > sink->asked.rows_capacity)
        return kr_fail(err, KR_ERR_LIMIT, "%llu rows match, but rows_capacity is %llu; raise it",
                       (unsigned long long)n, (unsigned long long)sink->asked.rows_capacity);
    if (status == KR_OK && sink->asked.rows && sink->reaches_rows) {
        status = kr_selected_rows(device, of, places, sink->asked.rows, n, a->context.stream, err);
    } else if (status == KR_OK && sink->asked.rows) {
        status = kr_buffer_allocate(device, n * sizeof(uint32_t), a->context.stream, "row ids of a scan",
                                    NULL, &rows, err);
        if (status == KR_OK)
            status = kr_selected_rows(device, of, places, rows.data, n, a->context.stream, err);
        if (status == KR_OK)
            status = copy_out(a, sink->asked.rows, rows.data, n * sizeof(uint32_t), err);
        kr_buffer_release(device, &rows, a->context.stream);
    }
    return status == KR_OK ? kr_memory_copy(device, sink->asked.out, &n, sizeof n, a->context.stream, err)
                           : status;
}

static kr_status give_rows(const kr_answer *a, const kr_answer_sink *sink, const kr_selected *of,
                           kr_error *err)
{
    kr_device *device = device_of(a);
    kr_selected_places places = {0};
    kr_status status = kr_selected_places_find(device, of, &places, a->context.stream, err);
    if (status != KR_OK)
        return status;
    if (!reaches_sink(sink) || (device->ops->is_host && !a->leaves_out)) {
        status = rows_to_host(a, sink, of, &places, err);
    } else {
        status = copy_out(a, sink->asked.out, kr_selected_places_total(&places), sizeof(uint64_t), err);
        if (status == KR_OK && sink->asked.rows)
            status = kr_selected_rows(device, of, &places, sink->asked.rows, sink->asked.rows_capacity,
                                      a->context.stream, err);
    }
    kr_buffer_release(device, &places.places, a->context.stream);
    return status;
}

/* A number and whether it is one, which a program writes to the caller's memory or to `scratch`. */
static kr_status give_number(const kr_answer *a, const kr_answer_sink *sink, const kr_selected *of,
                             kr_error *err)
{
    kr_device *device = device_of(a);
    kr_buffer scratch = {0};
    kr_status status = kr_buffer_allocate(device, 3 * sizeof(uint64_t), a->context.stream,
                                          "a result of a scan", NULL, &scratch, err);
    void *out = sink->reaches_out ? sink->asked.out : scratch.data;
    uint8_t *any =
        sink->asked.valid && sink->reaches_valid ? sink->asked.valid : (uint8_t *)scratch.data + 16;
    if (status == KR_OK)
        status = sink->asked.result == KR_SCAN_COUNT
                     ? kr_selected_count(device, of, out, a->context.stream, err)
                     : kr_selected_total(device, of, sink->asked.result, out, any, a->context.stream, err);
    if (status == KR_OK)
        status = copy_out(a, sink->asked.out, out, kr_scan_out_nbytes(a->table, &sink->asked), err);
    if (status == KR_OK && sink->asked.result != KR_SCAN_COUNT)
        status = copy_out(a, sink->asked.valid, any, 1, err);
    kr_buffer_release(device, &scratch, a->context.stream);
    return status;
}

static kr_status give(const kr_answer *a, const kr_answer_sink *sink, const kr_scan_job *job, kr_error *err)
{
    const int has_values = sink->asked.result >= KR_SCAN_SUM;
    const kr_selected of = {job->bitmap, a->table->n_rows,
                            has_values ? a->table->columns + sink->asked.column : NULL};
    kr_status status;
    if (sink->asked.result == KR_SCAN_BITMAP) {
        status = copy_out(a, sink->asked.out, job->bitmap, kr_scan_out_nbytes(a->table, &sink->asked), err);
    } else if (job->count) {
        status = copy_out(a, sink->asked.out, job->count, sizeof *job->count, err);
    } else {
        status = sink->asked.result == KR_SCAN_ROWS ? give_rows(a, sink, &of, err)
                                                    : give_number(a, sink, &of, err);
        kr_stopwatch_lap(a->context.watch, "results");
    }
    return status;
}

/* ---- Some conditions at once ----------------------------------------------------------------- */

typedef struct batch {
    kr_scan_job jobs[KR_SELECTS_MOST];
    kr_buffer bitmaps; /* of those whose bitmap is not the caller's */
    kr_buffer counts;  /* of those that the kind counts without a bitmap */
    const uint32_t *alive;
    uint32_t n;
} batch;

/* Says which condition is wrong. */
static kr_status name_condition(const kr_answer *a, uint32_t i, kr_status status, kr_error *err)
{
    const kr_error cause = err ? *err : (kr_error){0};
    if (a->n > 1 && (status == KR_ERR_ARGUMENT || status == KR_ERR_TYPE))
        return kr_fail(err, status, "conditions[%u]: %s", i, cause.text);
    return status;
}

static kr_status make_plans(const kr_answer *a, uint32_t first, batch *b, kr_error *err)
{
    const kr_plan_columns columns = kr_table_plan_columns(a->table);
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < b->n && status == KR_OK; ++i)
        status = name_condition(
            a, first + i,
            kr_plan_make(a->conditions ? a->conditions[first + i] : NULL, &columns, &b->jobs[i].plan, err),
            err);
    return status;
}

/* The kind counts its rows without a bitmap. */
static int is_counted(const kr_answer *a, const kr_answer_sink *sink)
{
    return sink->asked.result == KR_SCAN_COUNT && a->table->ops->counts;
}

/* Memory for what does not go straight to the caller. Counts begin at 0. */
static kr_status make_room(const kr_answer *a, batch *b, int needs_counts, int needs_bitmaps, uint64_t words,
                           kr_error *err)
{
    const uint64_t nbytes = KR_SELECTS_MOST * sizeof(uint64_t);
    kr_stream *stream = a->context.stream;
    kr_status status = KR_OK;
    if (needs_bitmaps && !b->bitmaps.data)
        status = kr_buffer_allocate(device_of(a), b->n * words * sizeof(uint32_t), stream,
                                    "bitmaps of a scan", "fewer conditions at once", &b->bitmaps, err);
    if (status == KR_OK && needs_counts && !b->counts.data)
        status = kr_buffer_allocate(device_of(a), nbytes, stream, "counts of a scan", NULL, &b->counts, err);
    return status == KR_OK && needs_counts
               ? kr_device_fill(device_of(a), b->counts.data, 0, nbytes, stream, err)
               : status;
}

/* Where each condition's rows go: to the caller's bitmap where the device reaches it, to a count, or to a
 * bitmap of ours. */
static kr_status place_answers(const kr_answer *a, uint32_t first, batch *b, kr_error *err)
{
    const uint64_t words = (kr_bitmap_words(a->table->n_rows) + 63) / 64 * 64; /* begins at 256 bytes */
    int needs_counts = 0, needs_bitmaps = 0;
    for (uint32_t i = 0; i < b->n; ++i) {
        const kr_answer_sink *sink = a->sinks + first + i;
        const int is_there = sink->asked.result == KR_SCAN_BITMAP && sink->reaches_out;
        b->jobs[i].bitmap = is_there ? sink->asked.out : NULL;
        needs_counts |= is_counted(a, sink);
        needs_bitmaps |= !is_there && !is_counted(a, sink);
    }
    const kr_status status = make_room(a, b, needs_counts, needs_bitmaps, words, err);
    for (uint32_t i = 0; i < b->n && status == KR_OK; ++i) {
        const int counted = is_counted(a, a->sinks + first + i);
        b->jobs[i].count = counted ? (uint64_t *)b->counts.data + i : NULL;
        if (!counted && !b->jobs[i].bitmap)
            b->jobs[i].bitmap = (uint32_t *)b->bitmaps.data + i * words;
    }
    return status;
}

/* `done`: conditions. Finding the rows of one is half of it, giving them the other half. */
static kr_status report(const kr_answer *a, double done, kr_error *err)
{
    return kr_device_report(device_of(a), "scan", a->table->n_rows, done / a->n, err);
}

static kr_status answer_batch(const kr_answer *a, uint32_t first, batch *b, kr_error *err)
{
    kr_status status = make_plans(a, first, b, err);
    if (status == KR_OK)
        status = place_answers(a, first, b, err);
    if (status == KR_OK)
        status = report(a, first, err);
    if (status == KR_OK)
        status = kr_scan_run(a->table, b->jobs, b->n, b->alive, &a->context, err);
    for (uint32_t i = 0; i < b->n && status == KR_OK; ++i) {
        status = report(a, first + (b->n + i) / 2.0, err);
        if (status == KR_OK)
            status = give(a, a->sinks + first + i, b->jobs + i, err);
    }
    for (uint32_t i = 0; i < b->n; ++i)
        kr_plan_release(&b->jobs[i].plan);
    return status;
}

static kr_status answer_with(const kr_answer *a, const uint32_t *alive, kr_error *err)
{
    batch *b = kr_host_calloc(1, sizeof *b, "a scan", err);
    kr_status status = b ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint32_t first = 0; first < a->n && status == KR_OK; first += KR_SELECTS_MOST) {
        b->n = a->n - first < KR_SELECTS_MOST ? a->n - first : KR_SELECTS_MOST;
        b->alive = alive;
        status = answer_batch(a, first, b, err);
    }
    if (b) {
        kr_buffer_release(device_of(a), &b->bitmaps, a->context.stream);
        kr_buffer_release(device_of(a), &b->counts, a->context.stream);
    }
    free(b);
    return status;
}

/* The rows of `given` that were not deleted, in `both` if there are both. */
static kr_status find_alive(const kr_answer *a, const uint32_t *given, kr_buffer *both, const uint32_t **rows,
                            kr_error *err)
{
    const uint32_t *left = a->table->alive.data;
    const uint64_t words = kr_bitmap_words(a->table->n_rows);
    *rows = given ? given : left;
    if (!given || !left)
        return KR_OK;
    kr_status status = kr_buffer_allocate(device_of(a), words * sizeof *left, a->context.stream,
                                          "a bitmap of rows", NULL, both, err);
    if (status == KR_OK)
        status =
            kr_device_copy(device_of(a), both->data, given, words * sizeof *left, a->context.stream, err);
    if (status == KR_OK)
        status = kr_bitmap_and(device_of(a), both->data, left, words, a->context.stream, err);
    *rows = both->data;
    return status;
}

kr_status kr_answer_all(const kr_answer *answer, kr_error *err)
{
    const kr_column alive = {.type = KR_U32,
                             .count = answer->alive ? kr_bitmap_words(answer->table->n_rows) : 0,
                             .data = answer->alive};
    kr_resident there = {0};
    kr_buffer both = {0};
    const uint32_t *rows = NULL;
    int waits = !answer->reaches_alive;
    for (uint32_t i = 0; i < answer->n; ++i)
        waits |= !reaches_sink(answer->sinks + i);
    kr_status status =
        kr_resident_make(device_of(answer), &alive, "a bitmap of rows", answer->context.stream, &there, err);
    if (status == KR_OK)
        status = find_alive(answer, there.column.data, &both, &rows, err);
    if (status == KR_OK)
        status = answer_with(answer, rows, err);
    if (waits) {
        const kr_status end =
            kr_device_sync(device_of(answer), answer->context.stream, status == KR_OK ? err : NULL);
        status = status == KR_OK ? end : status;
    }
    kr_buffer_release(device_of(answer), &both, answer->context.stream);
    kr_resident_release(device_of(answer), &there, answer->context.stream);
    return status;
}
