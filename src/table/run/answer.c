#include "table/run/answer.h"
#include "table/results/merge.h"
#include "table/results/totals.h"
#include "table/run/run.h"

#include <stdlib.h>
#include <string.h>

uint64_t kr_scan_out_nbytes(const kr_table *table, const kr_scan_sink *sink)
{
    if (sink->result == KR_SCAN_BITMAP)
        return kr_scans_bitmap_words(table->n_rows) * sizeof(uint32_t);
    if (sink->result == KR_SCAN_SUM_WIDE)
        return 2 * sizeof(uint64_t);
    if (sink->result == KR_SCAN_MIN || sink->result == KR_SCAN_MAX)
        return kr_type_nbytes(table->columns[sink->column].type);
    return sizeof(uint64_t);
}

static int reaches_sink(const kr_answer_sink *sink)
{
    return sink->reaches_out && sink->reaches_valid && sink->reaches_rows;
}

static void copy_out(kr_work *work, void *to, const void *from, uint64_t nbytes)
{
    if (to && to != from)
        kr_work_copy(work, to, from, nbytes);
}

/* ---- One result ------------------------------------------------------------------------------ */

/* Where the size must be known first: host memory. */
static void rows_to_host(kr_work *work, const kr_answer_sink *sink, const kr_selected *of,
                         const kr_selected_places *places)
{
    const kr_scan_sink *asked = &sink->asked;
    uint64_t n = 0;
    kr_work_read(work, &n, places->total, sizeof n);
    if (asked->rows && n > asked->rows_capacity)
        KR_STEP(work, kr_fail(work->err, KR_ERR_LIMIT, "%llu rows match, but rows_capacity is %llu; raise it",
                              (unsigned long long)n, (unsigned long long)asked->rows_capacity));
    if (asked->rows && sink->reaches_rows) {
        kr_selected_rows(work, of, places, asked->rows, n);
    } else if (asked->rows) {
        uint32_t *rows = kr_work_take(work, n * sizeof *rows, "row ids of a scan");
        kr_selected_rows(work, of, places, rows, n);
        copy_out(work, asked->rows, rows, n * sizeof *rows);
        kr_work_give(work, rows);
    }
    KR_STEP(work, kr_memory_copy(work->device, asked->out, &n, sizeof n, work->stream, work->err));
}

static void give_rows(kr_work *work, const kr_answer *a, const kr_answer_sink *sink, const kr_selected *of)
{
    const kr_selected_places places = kr_selected_places_find(work, of);
    if (!reaches_sink(sink) || (work->device->ops->is_host && !a->leaves_out)) {
        rows_to_host(work, sink, of, &places);
    } else {
        copy_out(work, sink->asked.out, places.total, sizeof *places.total);
        if (sink->asked.rows)
            kr_selected_rows(work, of, &places, sink->asked.rows, sink->asked.rows_capacity);
    }
    kr_work_give(work, places.places);
}

/* A number and whether it is one, which a program writes to the caller's memory or to `scratch`. */
static void give_number(kr_work *work, const kr_answer *a, const kr_answer_sink *sink, const kr_selected *of)
{
    const kr_scan_sink *asked = &sink->asked;
    uint64_t *scratch = kr_work_take(work, 3 * sizeof *scratch, "a result of a scan");
    void *out = sink->reaches_out ? asked->out : scratch;
    uint8_t *any = asked->valid && sink->reaches_valid ? asked->valid
                   : scratch                           ? (uint8_t *)(scratch + 2)
                                                       : NULL;
    if (asked->result == KR_SCAN_COUNT)
        kr_selected_count(work, of, out);
    else
        kr_selected_total(work, of, asked->result, out, any);
    copy_out(work, asked->out, out, kr_scan_out_nbytes(a->table, asked));
    if (asked->result != KR_SCAN_COUNT)
        copy_out(work, asked->valid, any, 1);
    kr_work_give(work, scratch);
}

static void give(kr_work *work, const kr_answer *a, const kr_answer_sink *sink, const kr_scan_job *job)
{
    const kr_scan_sink *asked = &sink->asked;
    const kr_selected of = {job->bitmap, a->table->n_rows,
                            asked->result >= KR_SCAN_SUM ? a->table->columns + asked->column : NULL};
    if (asked->result == KR_SCAN_BITMAP) {
        copy_out(work, asked->out, job->bitmap, kr_scan_out_nbytes(a->table, asked));
    } else if (job->count) {
        copy_out(work, asked->out, job->count, sizeof *job->count);
    } else {
        if (asked->result == KR_SCAN_ROWS)
            give_rows(work, a, sink, &of);
        else
            give_number(work, a, sink, &of);
        kr_work_lap(work, "results");
    }
}

/* ---- Some conditions at once ----------------------------------------------------------------- */

typedef struct batch {
    kr_scan_job jobs[KR_SELECTS_MOST];
    uint32_t *bitmaps; /* of those whose bitmap is not the caller's */
    uint64_t *counts;  /* of those that the kind counts without a bitmap */
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

static kr_status make_plan(const kr_answer *a, uint32_t i, kr_plan *plan, kr_error *err)
{
    const kr_plan_columns columns = kr_table_plan_columns(a->table);
    const kr_condition *condition = a->conditions ? a->conditions[i] : NULL;
    return name_condition(a, i, kr_plan_make(condition, &columns, plan, err), err);
}

kr_status kr_scan_make_plans(const kr_answer *answer, kr_plan *plans, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < answer->n && status == KR_OK; ++i)
        status = make_plan(answer, i, plans + i, err);
    return status;
}

static void open_plans(kr_work *work, const kr_answer *a, uint32_t first, batch *b)
{
    for (uint32_t i = 0; i < b->n && kr_work_goes_on(work); ++i)
        if (a->plans)
            b->jobs[i].plan = a->plans[first + i];
        else
            KR_STEP(work, make_plan(a, first + i, &b->jobs[i].plan, work->err));
}

/* The kind counts its rows without a bitmap. */
static int is_counted(const kr_answer *a, const kr_answer_sink *sink)
{
    return sink->asked.result == KR_SCAN_COUNT && a->table->ops->counts;
}

/* Memory for what does not go straight to the caller. Counts begin at 0. */
static void make_room(kr_work *work, batch *b, int needs_counts, int needs_bitmaps, uint64_t words)
{
    const uint64_t nbytes = KR_SELECTS_MOST * sizeof *b->counts;
    if (needs_bitmaps && !b->bitmaps)
        b->bitmaps = kr_work_take_or(work, b->n * words * sizeof *b->bitmaps, "bitmaps of a scan",
                                     "fewer conditions at once");
    if (needs_counts && !b->counts)
        b->counts = kr_work_take(work, nbytes, "counts of a scan");
    if (needs_counts)
        kr_work_fill(work, b->counts, 0, nbytes);
}

/* Where each condition's rows go: to the caller's bitmap where the device reaches it, to a count, or to a
 * bitmap of ours. */
static void place_answers(kr_work *work, const kr_answer *a, uint32_t first, batch *b)
{
    const uint64_t words = (kr_scans_bitmap_words(a->table->n_rows) + 63) / 64 * 64; /* begins at 256 bytes */
    int needs_counts = 0, needs_bitmaps = 0;
    for (uint32_t i = 0; i < b->n; ++i) {
        const kr_answer_sink *sink = a->sinks + first + i;
        const int is_there = sink->asked.result == KR_SCAN_BITMAP && sink->reaches_out;
        b->jobs[i].bitmap = is_there ? sink->asked.out : NULL;
        needs_counts |= is_counted(a, sink);
        needs_bitmaps |= !is_there && !is_counted(a, sink);
    }
    make_room(work, b, needs_counts, needs_bitmaps, words);
    for (uint32_t i = 0; i < b->n && kr_work_goes_on(work); ++i) {
        const int counted = is_counted(a, a->sinks + first + i);
        b->jobs[i].count = counted ? b->counts + i : NULL;
        if (!counted && !b->jobs[i].bitmap && b->bitmaps)
            b->jobs[i].bitmap = b->bitmaps + i * words;
    }
}

/* `done`: conditions. Finding the rows of one is half of it, giving them the other half. */
static void report(kr_work *work, const kr_answer *a, double done)
{
    KR_STEP(work, kr_device_report(work->device, "scan", a->table->n_rows, done / a->n, work->err));
}

static void answer_batch(kr_work *work, const kr_answer *a, uint32_t first, batch *b)
{
    open_plans(work, a, first, b);
    place_answers(work, a, first, b);
    report(work, a, first);
    if (kr_work_goes_on(work))
        kr_scan_run(work, a->table, b->jobs, b->n, b->alive, &a->notes);
    for (uint32_t i = 0; i < b->n && kr_work_goes_on(work); ++i) {
        report(work, a, first + (b->n + i) / 2.0);
        give(work, a, a->sinks + first + i, b->jobs + i);
    }
    for (uint32_t i = 0; i < b->n && !a->plans; ++i)
        kr_plan_release(&b->jobs[i].plan);
}

static void answer_with(kr_work *work, const kr_answer *a, const uint32_t *alive)
{
    batch *b = kr_work_object(work, sizeof *b, "a scan");
    if (!b)
        return;
    b->alive = alive;
    for (uint32_t first = 0; first < a->n; first += KR_SELECTS_MOST) {
        b->n = a->n - first < KR_SELECTS_MOST ? a->n - first : KR_SELECTS_MOST;
        answer_batch(work, a, first, b);
    }
    kr_work_give(work, b->bitmaps);
    kr_work_give(work, b->counts);
    free(b);
}

/* The rows of `given` that were not deleted, in memory of the work if there are both. */
static const uint32_t *find_alive(kr_work *work, const kr_answer *a, const uint32_t *given)
{
    const uint32_t *left = a->table->alive.data;
    const uint64_t words = kr_scans_bitmap_words(a->table->n_rows);
    if (!given || !left)
        return given ? given : left;
    uint32_t *both = kr_work_take(work, words * sizeof *both, "a bitmap of rows");
    kr_work_copy(work, both, given, words * sizeof *both);
    kr_selected_and(work, both, left, words);
    return both;
}

/* Also after a failure: what was copied to the caller's memory is there when it looks at it. */
static void wait_for(kr_work *work, const kr_answer *answer)
{
    int waits = !answer->reaches_alive;
    for (uint32_t i = 0; i < answer->n; ++i)
        waits |= !reaches_sink(answer->sinks + i);
    if (waits)
        kr_work_finish(work);
}

void kr_scan_answer_all(kr_work *work, const kr_answer *answer)
{
    const kr_column alive = {.type = KR_U32,
                             .count = answer->alive ? kr_scans_bitmap_words(answer->table->n_rows) : 0,
                             .data = answer->alive};
    kr_resident there = {0};
    kr_users_note(work->device, &((kr_table *)answer->table)->users, work->stream);
    KR_STEP(work, kr_column_resident_make(work->device, &alive, "a bitmap of rows", work->stream, &there,
                                          work->err));
    const uint32_t *rows = find_alive(work, answer, there.column.data);
    answer_with(work, answer, rows);
    wait_for(work, answer);
    kr_work_give(work, rows); /* which does nothing unless they are the work's */
    kr_column_resident_release(work->device, &there, work->stream);
    kr_users_mark(work->device, work->stream);
}
