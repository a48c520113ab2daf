/* Updates in waves. They grow an index and shrink it again, as in Henneberg, Schuhknecht, Kharal and Brown,
 * "cgRX", 6.5; or its size stays, since the oldest rows are deleted when others are inserted. Rows are
 * inserted in the order of the column, so that the row of each key is known. */
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct job {
    bench_run *run;        /* of the index that changes */
    const bench_data *all; /* what was generated */
    bench_data state;      /* what the index holds */
    const char *spec;
    const workload *w;
    bench_waves *result;
} job;

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

/* Inserts the next rows of the column and deletes the oldest or, of waves that grow, the newest. */
static int change(job *j, uint64_t come, uint64_t go, bench_wave *wave)
{
    bench_data *state = &j->state;
    const uint64_t end = state->first_key + state->n_keys;
    const int grows = j->result->form == WAVES_GROW;
    const kr_column inserts = bench_data_column(j->all, COLUMN_KEYS, end, come);
    const kr_column deletes = bench_data_column(j->all, COLUMN_KEYS, grows ? end - go : state->first_key, go);
    int code = DONE;
    wave->change = !go ? WAVE_INSERT : come ? WAVE_REPLACE : WAVE_DELETE;
    wave->changed = come + go;
    state->first_key += grows ? 0 : go;
    wave->rows = state->n_keys = state->n_keys + come - go;
    if (!j->result->is_rebuilt)
        code = update(j, come ? &inserts : NULL, go ? &deletes : NULL, wave);
    if (!code && j->result->is_rebuilt) {
        kr_index_destroy(j->run->index);
        j->run->index = NULL;
        code = bench_build(j->run, j->spec, &wave->seconds);
    }
    if (code)
        return code;
    index_facts now;
    code = index_facts_take(j->run->index, &now);
    wave->phases = now.phases;
    wave->footprint_nbytes = now.info.footprint_nbytes;
    wave->peak_nbytes = now.info.peak_nbytes;
    return code;
}

/* ---- Comparisons --------------------------------------------------------------------------- */

/* Builds anew what is there now. */
static int rebuild(const job *j, double *seconds, bench_times *lookups)
{
    const char *spec = j->run->options->rebuild ? j->run->options->rebuild : j->spec;
    bench_run fresh = *j->run;
    fresh.index = NULL;
    int code = bench_build(&fresh, spec, seconds);
    if (!code && lookups)
        code = bench_time_lookups(&fresh, lookups, NULL);
    if (!code)
        code = index_facts_take(fresh.index, &j->result->fresh);
    if (!code)
        snprintf(j->result->rebuild, sizeof j->result->rebuild, "%s", j->result->fresh.info.spec);
    kr_index_destroy(fresh.index);
    return code;
}

/* Looks up every key that is or was there. An index that was built anew numbers its rows from 0. */
static int check(const job *j, char checked[192])
{
    const uint64_t first = j->state.first_key, end = first + j->state.n_keys;
    const uint64_t row_of_first = j->result->is_rebuilt ? 0 : first;
    bench_data every = j->state;
    bench_run run = *j->run;
    every.sorted = NULL;
    every.host[COLUMN_LOWER] = every.host[COLUMN_KEYS];
    every.there[COLUMN_LOWER] = every.there[COLUMN_KEYS];
    every.n_probes = every.n_grown;
    every.known = tool_alloc(every.n_probes, sizeof *every.known, "the answers after the waves");
    if (!every.known)
        return FAILED;
    for (uint64_t i = 0; i < every.n_probes; ++i)
        every.known[i] = i >= first && i < end ? (uint32_t)(i - first + row_of_first) : KR_NO_ROW;
    run.data = &every;
    const int code = bench_check(&run, checked);
    free(every.known);
    return code;
}

/* ---- Waves that grow the index, then shrink it ----------------------------------------------- */

/* Rows after this many inserts. */
static uint64_t rows_after(const job *j, uint64_t inserts)
{
    const uint64_t half = j->result->n / 2, come = j->all->n_grown - j->all->n_keys;
    return j->all->n_keys + come / half * inserts + come % half * inserts / half;
}

static int perform_wave(job *j, uint64_t i)
{
    const uint64_t half = j->result->n / 2;
    const uint64_t before = j->state.n_keys, after = rows_after(j, i < half ? i + 1 : 2 * half - i - 1);
    bench_wave *wave = &j->result->waves[i];
    char checked[192];
    int code = change(j, before < after ? after - before : 0, before < after ? 0 : before - after, wave);
    if (!code)
        code = bench_time_lookups(j->run, &wave->lookups, NULL);
    if (!code && !j->result->is_rebuilt)
        code = rebuild(j, &wave->rebuild, &wave->rebuilt_lookups);
    if (code || (i + 1) % half)
        return code;
    code = check(j, checked);
    if (!code)
        code = index_facts_take(j->run->index, &j->result->moments[i / half]);
    return code;
}

static int grow(job *j, bench_row *row)
{
    bench_waves *result = j->result;
    double warm;
    int code = rebuild(j, &warm, NULL);
    result->n = 2 * (uint32_t)j->w->waves;
    for (uint64_t i = 0; i < result->n && !code; ++i)
        code = perform_wave(j, i);
    row->after = result->waves[result->n - 1].lookups;
    result->fresh_lookups = result->waves[result->n - 1].rebuilt_lookups;
    return code;
}

/* ---- Waves that keep its size ---------------------------------------------------------------- */

static int perform_pair(job *j, bench_wave *waves)
{
    const uint64_t rows = j->w->wave_rows;
    if (j->result->form == WAVES_CHURN)
        return change(j, rows, rows, &waves[0]);
    const int code = change(j, rows, 0, &waves[0]);
    return code ? code : change(j, 0, rows, &waves[1]);
}

/* Probes are drawn anew of the keys that are there, first and last. */
static int keep_size(job *j, bench_row *row)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    bench_waves *result = j->result;
    const uint32_t each = result->form == WAVES_CHURN ? 1 : 2;
    const uint64_t repeat = j->run->options->repeat;
    bench_wave warm[2] = {{0}};
    char checked[192];
    int code = index_facts_take(j->run->index, &result->moments[0]);
    if (!code)
        code = perform_pair(j, warm);
    for (uint64_t i = 0; i < j->w->waves && !code; ++i, result->n += each)
        code = perform_pair(j, &result->waves[result->n]);
    if (!code)
        code = index_facts_take(j->run->index, &result->moments[1]);
    if (!code)
        code = check(j, checked);
    if (!code)
        code = bench_data_draw(&j->state, j->w);
    if (!code)
        code = bench_time_lookups(j->run, &row->after, NULL);
    for (uint64_t i = 0; i <= repeat && !code && !result->is_rebuilt; ++i)
        code = rebuild(j, &seconds[i], i == repeat ? &result->fresh_lookups : NULL);
    if (!code && !result->is_rebuilt)
        result->rebuilds = bench_summarize(seconds + 1, repeat);
    return code ? code : bench_data_draw(j->all, j->w);
}

/* ---- All waves ----------------------------------------------------------------------------- */

static void summarize(bench_row *row)
{
    static double seconds[2 * WORKLOAD_WAVES_MOST], rebuilds[2 * WORKLOAD_WAVES_MOST],
        ratios[2 * WORKLOAD_WAVES_MOST];
    bench_waves *result = &row->waves;
    for (uint32_t sort = 0; sort < N_WAVE_CHANGES; ++sort) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < result->n; ++i)
            if (result->waves[i].change == sort)
                seconds[n++] = result->waves[i].seconds;
        if (n)
            result->changes[sort] = bench_summarize(seconds, n);
    }
    for (uint32_t i = 0; i < result->n; ++i) {
        seconds[i] = result->waves[i].seconds;
        rebuilds[i] = result->form == WAVES_GROW ? result->waves[i].rebuild : result->rebuilds.median;
        ratios[i] = rebuilds[i] / seconds[i];
    }
    row->times = bench_summarize(seconds, result->n);
    if (result->is_rebuilt)
        return;
    result->ratios = bench_summarize(ratios, result->n);
    result->slowdown = row->after.median / result->fresh_lookups.median;
    if (result->form == WAVES_GROW)
        result->rebuilds = bench_summarize(rebuilds, result->n);
}

int bench_update_waves(bench_run *run, const char *spec, bench_row *row)
{
    job j = {run, run->data, *run->data, spec, &row->workload, &row->waves};
    const size_t length = strlen(row->checked);
    row->waves.form = row->workload.wave_form;
    int code = bench_time_lookups(run, &row->before, NULL);
    run->data = &j.state;
    if (!code)
        code = row->waves.form == WAVES_GROW ? grow(&j, row) : keep_size(&j, row);
    run->data = j.all;
    if (!code)
        summarize(row);
    snprintf(row->checked + length, sizeof row->checked - length, "; %severy key that is or was there",
             row->waves.form == WAVES_GROW ? "after the inserts and after the deletes " : "after the waves ");
    return code;
}
