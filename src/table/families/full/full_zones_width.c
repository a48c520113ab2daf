/* Zones of a column at one key width. */
#include "table/families/full/full.h"
#include "table/families/full/full_zones_params.h"

#include <stdlib.h>

extern const kr_program KR_W(full_zones), KR_W(full_zones_check);

static zones_params params_of(const kr_column *column, const full_zones *zones)
{
    return (zones_params){.data = column->data,
                          .validity = column->validity,
                          .validity_offset = column->validity_offset,
                          .n = column->count,
                          .lows = zones->buffer.data,
                          .highs = (kr_key *)zones->buffer.data + zones->n,
                          .type = column->type};
}

static void run(kr_work *work, const kr_program *program, const zones_params *params, uint64_t n)
{
    kr_work_run(work, program, params, n * work->device->ops->group_threads);
}

static void add_zones(const kr_key *lows, const kr_key *highs, uint64_t n, full_spread *spread)
{
    for (uint64_t i = 0; i < n; ++i) {
        if (lows[i] > highs[i])
            continue;
        spread->lowest = lows[i] < spread->lowest ? lows[i] : spread->lowest;
        spread->highest = highs[i] > spread->highest ? highs[i] : spread->highest;
        spread->widths += (double)(highs[i] - lows[i]);
        ++spread->counted;
    }
}

/* Whether a zone is, in the mean, narrower than a quarter of the column. */
static uint32_t is_clustered(const full_spread *spread)
{
    return spread->counted > 1 &&
           spread->widths / (double)spread->counted < (double)(spread->highest - spread->lowest) / 4;
}

/* Adds the zones from `first` on to what is known of those before. */
static void decide(kr_work *work, uint64_t n_rows, uint64_t first, full_zones *zones)
{
    const uint64_t n = zones->n - first, whole = n_rows / FULL_TILE - first;
    const kr_key *lows = (const kr_key *)zones->buffer.data + first;
    kr_key *ends = kr_work_array(work, 2 * n, sizeof *ends, "zones of a column");
    if (!ends)
        return;
    kr_work_copy(work, ends, lows, n * sizeof *ends);
    kr_work_copy(work, ends + n, lows + zones->n, n * sizeof *ends);
    kr_work_sync(work);
    if (kr_work_goes_on(work)) {
        add_zones(ends, ends + n, whole, &zones->spread);
        full_spread all = zones->spread;
        add_zones(ends + whole, ends + n + whole, n - whole, &all);
        zones->are_used = is_clustered(&all);
        zones->lowest = all.lowest;
        zones->highest = all.highest;
    }
    free(ends);
}

/* Those of tiles that keep their rows. */
static void copy_zones(kr_work *work, const full_zones *before, uint64_t n, full_zones *zones)
{
    const kr_key *from = before->buffer.data;
    kr_key *to = zones->buffer.data;
    kr_work_copy(work, to, from, n * sizeof *to);
    kr_work_copy(work, to + zones->n, from + before->n, n * sizeof *to);
    zones->spread = before->spread;
}

void KR_W(full_zones_make)(kr_work *work, const kr_column *column, const full_zones *before,
                           uint64_t n_rows_before, full_zones *zones)
{
    const uint64_t first = before ? n_rows_before / FULL_TILE : 0, row = first * FULL_TILE;
    *zones = (full_zones){.n = full_zones_count(column->count), .spread = {.lowest = UINT64_MAX}};
    zones->buffer = kr_work_keep(
        work, kr_work_take_or(work, 2 * zones->n * sizeof(kr_key), "zones of a column", "zones=off"));
    if (!kr_work_goes_on(work))
        return;
    if (before)
        copy_zones(work, before, first, zones);
    zones_params params = params_of(column, zones);
    params.data = (const char *)column->data + row * kr_type_nbytes(column->type);
    params.validity_offset += row;
    params.n -= row;
    params.lows += first;
    params.highs += first;
    run(work, &KR_W(full_zones), &params, zones->n - first);
    decide(work, column->count, first, zones);
}

void KR_W(full_zones_validate)(kr_work *work, const kr_column *column, const full_zones *zones)
{
    zones_params params = params_of(column, zones);
    uint64_t wrong = 0;
    params.wrong = kr_work_counters(work, 1);
    run(work, &KR_W(full_zones_check), &params, zones->n);
    kr_work_read(work, &wrong, params.wrong, sizeof wrong);
    kr_work_give(work, params.wrong);
    if (wrong)
        KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT,
                              "%llu of %llu zones do not hold the lowest and highest value of their rows",
                              (unsigned long long)wrong, (unsigned long long)zones->n));
}
