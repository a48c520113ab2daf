/* Updates in waves: rows come in batches and go again, as in Henneberg, Schuhknecht, Kharal and Brown,
 * "cgRX", 6.5. The index always holds the first keys of the column, so that the row of each is known. */
#include "job.h"

#include "../clock.h"
#include "../tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct job {
    bench_run *run;        /* of the index that changes */
    const bench_data *all; /* what was generated */
    bench_data state;      /* what the index holds */
    const char *spec;
    bench_waves *result;
} job;

/* Rows after this many inserts. */
static uint64_t rows_after(const job *j, uint64_t inserts)
{
    const uint64_t half = j->result->n / 2, come = j->all->n_grown - j->all->n_keys;
    return j->all->n_keys + come / half * inserts + come % half * inserts / half;
}

/* ---- Changes ------------------------------------------------------------------------------- */

static int update(job *j, const kr_column *inserts, const kr_column *deletes, bench_wave *wave)
{
    kr_error err = {0};
    int code = tool_check(kr_device_sync(j->run->device, NULL, &err), &err);
    if (code)
        return code;
    const double begin = tool_now();
    kr_status status = kr_index_update(j->run->index, inserts, NULL, deletes, NULL, &err);
    if (status == KR_ERR_UNSUPPORTED) {
        j->result->is_rebuilt = 1;
        snprintf(j->result->why_rebuilt, sizeof j->result->why_rebuilt, "%s", err.text);
        return DONE;
    }
    if (status == KR_OK)
        status = kr_device_sync(j->run->device, NULL, &err);
    wave->seconds = tool_now() - begin;
    return tool_check(status, &err);
}

/* Wave i, after which the index holds what `state` says. */
static int change(job *j, uint64_t i, bench_wave *wave)
{
    const uint64_t half = j->result->n / 2;
    const uint64_t before = j->state.n_keys, after = rows_after(j, i < half ? i + 1 : 2 * half - i - 1);
    const uint64_t first = before < after ? before : after;
    int code = DONE;
    wave->changed = before < after ? after - before : before - after;
    wave->rows = j->state.n_keys = after;
    const kr_column keys = bench_data_column(j->all, COLUMN_KEYS, first, wave->changed);
    if (!j->result->is_rebuilt)
        code = update(j, before < after ? &keys : NULL, before < after ? NULL : &keys, wave);
    if (!code && j->result->is_rebuilt) {
        kr_index_destroy(j->run->index);
        j->run->index = NULL;
        code = bench_build(j->run, j->spec, &wave->seconds);
    }
    return code;
}

/* ---- Comparisons --------------------------------------------------------------------------- */

/* Builds anew what is there now. The first builds warm up and look nothing up. */
static int rebuild(const job *j, bench_wave *wave)
{
    const char *spec = j->run->options->rebuild ? j->run->options->rebuild : j->spec;
    bench_run fresh = *j->run;
    index_facts made;
    fresh.index = NULL;
    int code = bench_build(&fresh, spec, &wave->rebuild);
    if (!code && wave->rows)
        code = bench_time_lookups(&fresh, &wave->rebuilt_lookups);
    if (!code)
        code = index_facts_take(fresh.index, &made);
    if (!code)
        snprintf(j->result->rebuild, sizeof j->result->rebuild, "%s", made.info.spec);
    kr_index_destroy(fresh.index);
    return code;
}

/* Looks up every key that is or was there. */
static int check(const job *j, char checked[192])
{
    bench_data every = j->state;
    bench_run run = *j->run;
    every.sorted = NULL;
    every.host[COLUMN_LOWER] = every.host[COLUMN_KEYS];
    every.there[COLUMN_LOWER] = every.there[COLUMN_KEYS];
    every.n_probes = every.n_grown;
    every.known = tool_alloc(every.n_probes, sizeof *every.known, "the answers after the waves");
    if (!every.known)
        return FAILED;
    for (uint64_t row = 0; row < every.n_probes; ++row)
        every.known[row] = row < every.n_keys ? (uint32_t)row : KR_NO_ROW;
    run.data = &every;
    const int code = bench_check(&run, checked);
    free(every.known);
    return code;
}

/* ---- All waves ----------------------------------------------------------------------------- */

static int perform_wave(job *j, uint64_t i)
{
    const uint64_t half = j->result->n / 2;
    bench_wave *wave = &j->result->waves[i];
    char checked[192];
    int code = change(j, i, wave);
    if (!code)
        code = bench_time_lookups(j->run, &wave->lookups);
    if (!code && !j->result->is_rebuilt)
        code = rebuild(j, wave);
    if (code || (i + 1) % half)
        return code;
    code = check(j, checked);
    if (!code)
        code = index_facts_take(j->run->index, &j->result->halves[i / half]);
    return code;
}

static void summarize(const job *j, bench_row *row)
{
    static double seconds[2 * WORKLOAD_WAVES_MOST], rebuilds[2 * WORKLOAD_WAVES_MOST],
        ratios[2 * WORKLOAD_WAVES_MOST];
    bench_waves *result = j->result;
    const bench_wave *last = &result->waves[result->n - 1];
    for (uint32_t i = 0; i < result->n; ++i) {
        seconds[i] = result->waves[i].seconds;
        rebuilds[i] = result->waves[i].rebuild;
        ratios[i] = rebuilds[i] / seconds[i];
    }
    row->times = bench_summarize(seconds, result->n);
    row->after = last->lookups;
    if (result->is_rebuilt)
        return;
    result->rebuilds = bench_summarize(rebuilds, result->n);
    result->ratios = bench_summarize(ratios, result->n);
    result->slowdown = last->lookups.median / last->rebuilt_lookups.median;
}

int bench_update_waves(bench_run *run, const char *spec, bench_row *row)
{
    job j = {run, run->data, *run->data, spec, &row->waves};
    bench_wave warm = {0};
    const size_t length = strlen(row->checked);
    row->waves.n = 2 * (uint32_t)row->workload.waves;
    int code = bench_time_lookups(run, &row->before);
    if (!code)
        code = rebuild(&j, &warm);
    run->data = &j.state;
    for (uint64_t i = 0; i < row->waves.n && !code; ++i)
        code = perform_wave(&j, i);
    run->data = j.all;
    if (!code)
        summarize(&j, row);
    snprintf(row->checked + length, sizeof row->checked - length,
             "; after the inserts and after the deletes every key that is or was there");
    return code;
}
