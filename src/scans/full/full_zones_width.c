/* Zones of a column at one key width. */
#include "scans/full/full.h"
#include "scans/full/full_zones_width_body.h"

#include <stdlib.h>

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

static kr_status run(kr_device *device, const kr_program *program, const zones_params *params, uint64_t n,
                     kr_stream *stream, kr_error *err)
{
    return kr_device_run(device, program, params, n * device->ops->group_threads, stream, err);
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
static kr_status decide(const kr_table_build *build, uint64_t first, full_zones *zones, kr_error *err)
{
    const uint64_t n = zones->n - first, whole = build->n_rows / FULL_TILE - first;
    const kr_key *lows = (const kr_key *)zones->buffer.data + first;
    kr_key *ends = kr_host_calloc(2 * n, sizeof *ends, "zones of a column", err);
    if (!ends)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_device_copy(build->device, ends, lows, n * sizeof *ends, build->stream, err);
    if (status == KR_OK)
        status =
            kr_device_copy(build->device, ends + n, lows + zones->n, n * sizeof *ends, build->stream, err);
    if (status == KR_OK)
        status = kr_device_sync(build->device, build->stream, err);
    if (status == KR_OK) {
        add_zones(ends, ends + n, whole, &zones->spread);
        full_spread all = zones->spread;
        add_zones(ends + whole, ends + n + whole, n - whole, &all);
        zones->are_used = is_clustered(&all);
    }
    free(ends);
    return status;
}

/* Those of tiles that keep their rows. */
static kr_status copy_zones(const kr_table_build *build, const full_zones *before, uint64_t n,
                            full_zones *zones, kr_error *err)
{
    const kr_key *from = before->buffer.data;
    kr_key *to = zones->buffer.data;
    const kr_status status = kr_device_copy(build->device, to, from, n * sizeof *to, build->stream, err);
    zones->spread = before->spread;
    return status == KR_OK ? kr_device_copy(build->device, to + zones->n, from + before->n, n * sizeof *to,
                                            build->stream, err)
                           : status;
}

kr_status KR_W(full_zones_make)(const kr_table_build *build, const kr_column *column,
                                const full_zones *before, uint64_t n_rows_before, full_zones *zones,
                                kr_error *err)
{
    const uint64_t first = before ? n_rows_before / FULL_TILE : 0, row = first * FULL_TILE;
    *zones = (full_zones){.n = (column->count + FULL_TILE - 1) / FULL_TILE, .spread = {.lowest = UINT64_MAX}};
    kr_status status = kr_buffer_allocate(build->device, 2 * zones->n * sizeof(kr_key), build->stream,
                                          "zones of a column", "zones=off", &zones->buffer, err);
    if (status == KR_OK && before)
        status = copy_zones(build, before, first, zones, err);
    zones_params params = params_of(column, zones);
    params.data = (const char *)column->data + row * kr_type_nbytes(column->type);
    params.validity_offset += row;
    params.n -= row;
    params.lows += first;
    params.highs += first;
    if (status == KR_OK)
        status = run(build->device, &KR_W(full_zones), &params, zones->n - first, build->stream, err);
    return status == KR_OK ? decide(build, first, zones, err) : status;
}

kr_status KR_W(full_zones_validate)(kr_device *device, const kr_column *column, const full_zones *zones,
                                    kr_error *err)
{
    zones_params params = params_of(column, zones);
    kr_buffer counters = {0};
    uint64_t wrong = 0;
    kr_status status = kr_counters_make(device, NULL, 1, &counters, err);
    params.wrong = counters.data;
    if (status == KR_OK)
        status = run(device, &KR_W(full_zones_check), &params, zones->n, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, &wrong, 1, err);
    kr_buffer_release(device, &counters, NULL);
    if (status == KR_OK && wrong)
        return kr_fail(err, KR_ERR_INVARIANT,
                       "%llu of %llu zones do not hold the lowest and highest value of their rows",
                       (unsigned long long)wrong, (unsigned long long)zones->n);
    return status;
}
