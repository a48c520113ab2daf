#include "index/results/row_ids.h"
#include "index/results/params.h"
#include "index/results/row_ids_body.h"

kr_rows_summary kr_row_ids_summarize(kr_work *w, const kr_rows *rows, uint64_t *counters)
{
    const held_params params = {.view = rows->view, .counters = counters, .n = rows->n_slots};
    uint64_t found[KR_HELD_COUNTERS] = {0};
    kr_assert_fits(found, KR_ROWS_COUNTERS * sizeof(uint64_t));
    kr_work_fill(w, counters, 0, sizeof found);
    kr_work_run(w, rows->walk->most, &params, kr_group_runs(rows->n_slots));
    kr_work_read(w, found, counters, sizeof found);
    return (kr_rows_summary){found[KR_HELD_MOST], found[KR_HELD_COUNT]};
}

void kr_row_ids_check(kr_work *w, const uint32_t *ids, uint64_t n, uint64_t found[2])
{
    uint64_t *counters = kr_work_counters(w, 2);
    const check_rows_params params = {ids, counters};
    kr_work_run(w, &rows_check, &params, n);
    kr_work_read(w, found, counters, 2 * sizeof *found);
    kr_work_give(w, counters);
}

/* ---- Whether row ids are distinct: by a bitmap where they are dense, else by sorting ------------------ */

static uint64_t count_by_bitmap(kr_work *w, const kr_rows *rows, uint32_t n, uint64_t end)
{
    const uint64_t words = end / 32 + 1;
    uint64_t *counters = kr_work_counters(w, 1), distinct = 0;
    uint32_t *bitmap = kr_work_take(w, words * sizeof *bitmap, "a bitmap of row ids");
    kr_work_fill(w, bitmap, 0, words * sizeof *bitmap);
    const count_marked_params marked = {bitmap, counters};
    for (uint32_t i = 0; i < n; ++i) {
        const held_params held = {.view = rows[i].view, .bitmap = bitmap};
        kr_work_run(w, rows[i].walk->mark, &held, rows[i].n_slots);
    }
    kr_work_run(w, &rows_count_marked, &marked, words);
    kr_work_read(w, &distinct, counters, sizeof distinct);
    return distinct;
}

/* Slots without a row are sorted behind the others. */
static uint64_t count_by_sorting(kr_work *w, const kr_rows *rows, uint32_t n, uint64_t n_slots,
                                 uint64_t count)
{
    const uint64_t nbytes = n_slots * sizeof(uint32_t);
    uint64_t found[2] = {0}, first = 0;
    uint32_t *ids = kr_work_take(w, nbytes, "row ids");
    uint32_t *sorted = kr_work_take(w, nbytes, "sorted row ids");
    uint32_t *positions = kr_work_take(w, nbytes, "their positions");
    for (uint32_t i = 0; i < n; ++i) {
        const held_params held = {.view = rows[i].view, .ids = KR_PLACE_IN(ids, first)};
        kr_work_run(w, rows[i].walk->list, &held, rows[i].n_slots);
        first += rows[i].n_slots;
    }
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = n_slots,
                          .keys_in = ids,
                          .keys_out = sorted,
                          .rows_out = positions};
    kr_work_sort(w, &sort);
    kr_row_ids_check(w, sorted, count, found);
    return count - found[0];
}

/* Slots that hold a row, and the end of all row ids; *n_rows and *n_slots are those of all parts. */
static kr_rows_summary summarize_all(kr_work *w, const kr_rows *rows, uint32_t n, uint64_t *n_rows,
                                     uint64_t *n_slots)
{
    uint64_t *counters = kr_work_counters(w, KR_ROWS_COUNTERS);
    kr_rows_summary all = {0};
    for (uint32_t i = 0; i < n; ++i) {
        const kr_rows_summary part = kr_row_ids_summarize(w, &rows[i], counters);
        all.end = part.end > all.end ? part.end : all.end;
        all.count += part.count;
        *n_rows += rows[i].n_rows;
        *n_slots += rows[i].n_slots;
    }
    kr_work_give(w, counters);
    return all;
}

kr_rows_summary kr_row_ids_check_all(kr_work *w, const kr_rows *rows, uint32_t n, int distinct)
{
    uint64_t n_rows = 0, n_slots = 0;
    const kr_rows_summary summary = summarize_all(w, rows, n, &n_rows, &n_slots);
    if (summary.count != n_rows)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "%llu slots hold a row id, but the index has %llu rows",
                           (unsigned long long)summary.count, (unsigned long long)n_rows));
    if (n_rows && distinct) {
        const int by_bitmap = summary.end / 8 <= n_slots * sizeof(uint32_t);
        const uint64_t different = by_bitmap ? count_by_bitmap(w, rows, n, summary.end)
                                             : count_by_sorting(w, rows, n, n_slots, summary.count);
        if (different != summary.count)
            KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT,
                               "row ids are not distinct: %llu entries, %llu different ids",
                               (unsigned long long)summary.count, (unsigned long long)different));
    }
    return summary;
}
