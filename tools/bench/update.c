/* Updates: rows exchange their keys, and are looked up before and after. */
#include "bench/bench.h"
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

/* Which row has a row's key after the exchange. */
static uint32_t *partners(const bench_data *data)
{
    const uint32_t *rows = data->host[COLUMN_CHANGED_ROWS];
    uint32_t *to = tool_alloc(data->n_keys, sizeof *to, "the answers after the update");
    for (uint64_t row = 0; to && row < data->n_keys; ++row)
        to[row] = (uint32_t)row;
    for (uint64_t i = 0; to && i < data->n_changed; ++i)
        to[rows[i]] = rows[i ^ 1];
    return to;
}

/* Rows and where each went. */
typedef struct move {
    const uint32_t *rows, *to;
    uint32_t *after;
} move;

static void move_part(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const move *m = ctx;
    (void)part;
    for (uint64_t i = first; i < end; ++i)
        m->after[i] = m->rows[i] == KR_NO_ROW ? KR_NO_ROW : m->to[m->rows[i]];
}

static uint32_t *moved(const uint32_t *rows, uint64_t n, const uint32_t *to)
{
    move m = {.rows = rows, .to = to, .after = tool_alloc(n, sizeof *to, "the answers after the update")};
    if (m.after)
        kr_workload_run(kr_workload_parts(0, n), n, move_part, &m);
    return m.after;
}

/* The same keys in other rows: the known answers and the oracle's rows change with them. */
static int open_after(const bench_data *data, bench_data *after)
{
    uint32_t *to = partners(data);
    *after = *data;
    after->known = to ? moved(data->known, data->n_probes, to) : NULL;
    after->sorted_rows = after->known ? moved(data->sorted_rows, data->n_keys, to) : NULL;
    after->checks = after->sorted_rows ? bench_checks_open() : NULL;
    free(to);
    return after->checks ? DONE : FAILED;
}

static void close_after(bench_data *after)
{
    free(after->known);
    free(after->sorted_rows);
    bench_checks_close(after->checks);
}

/* Exchanges the keys of all pairs, or gives them back. */
static int exchange(const bench_run *run, int back, double *seconds)
{
    const bench_data *data = run->data;
    const kr_column keys = bench_data_column(data, COLUMN_CHANGED_KEYS, 0, data->n_changed);
    const uint32_t *rows = data->there[back ? COLUMN_CHANGED_BACK : COLUMN_CHANGED_ROWS];
    kr_error err = {0};
    int code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    const double begin = tool_now();
    const kr_status status = code ? KR_OK : kr_index_set_keys(run->index, rows, &keys, NULL, &err);
    if (status == KR_ERR_UNSUPPORTED) /* its advice does not help here */
        return tool_fail(FAILED, "%.*s; give --waves N to insert and delete rows",
                         (int)strcspn(err.text, ";"), err.text);
    if (!code)
        code = tool_check(status, &err);
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    *seconds = tool_now() - begin;
    return code;
}

/* Exchanges the keys and gives them back in turn; in the end they are exchanged. The first rounds warm up and
 * are not counted. */
static int time_updates(const bench_run *run, bench_row *row)
{
    static double seconds[BENCH_REPEAT_MOST + 2];
    const uint64_t n = run->options->repeat, warm = 1 + n % 2;
    index_facts taken = {.phases = {.n = 0}};
    int code = DONE;
    for (uint64_t i = 0; i < warm + n && !code; ++i) {
        code = exchange(run, (int)(i % 2), &seconds[i]);
        if (!code)
            code = index_facts_take(run->index, &taken);
        if (!code && i >= warm)
            bench_note_phases(&taken.phases, i - warm);
    }
    if (code)
        return code;
    row->times = bench_summarize(seconds + warm, n);
    row->update_phases = taken.phases;
    bench_median_phases(&row->update_phases, n);
    return DONE;
}

int bench_update(bench_run *run, bench_row *row)
{
    const bench_data *before = run->data;
    bench_data after = {0};
    char checked[sizeof row->checked];
    int code = bench_time_lookups(run, &row->before, NULL);
    if (!code)
        code = time_updates(run, row);
    if (!code)
        code = open_after(before, &after);
    if (!code) {
        run->data = &after;
        code = bench_check(run, checked);
    }
    if (!code)
        code = bench_time_lookups(run, &row->after, NULL);
    run->data = before;
    close_after(&after);
    return code;
}
