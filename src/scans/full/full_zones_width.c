/* Zones of a column at one key width. */
#include "scans/full/full.h"
#include "scans/full/full_zones_body.h"

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

/* Whether a zone is, in the mean, narrower than a quarter of the column. */
static int is_clustered(const kr_key *ends, uint64_t n)
{
    kr_key lowest = ~(kr_key)0, highest = 0;
    double widths = 0;
    uint64_t counted = 0;
    for (uint64_t i = 0; i < n; ++i) {
        const kr_key low = ends[i], high = ends[n + i];
        if (low > high)
            continue;
        lowest = low < lowest ? low : lowest;
        highest = high > highest ? high : highest;
        widths += (double)(high - low);
        ++counted;
    }
    return counted > 1 && widths / (double)counted < (double)(highest - lowest) / 4;
}

static kr_status decide(const kr_table_build *build, full_zones *zones, kr_error *err)
{
    kr_key *ends = kr_host_calloc(2 * zones->n, sizeof *ends, "zones of a column", err);
    if (!ends)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_device_copy(build->device, ends, zones->buffer.data, 2 * zones->n * sizeof *ends,
                                      build->stream, err);
    if (status == KR_OK)
        status = kr_device_sync(build->device, build->stream, err);
    zones->are_used = status == KR_OK && is_clustered(ends, zones->n);
    free(ends);
    return status;
}

kr_status KR_W(full_zones_build)(const kr_table_build *build, const kr_column *column, full_zones *zones,
                                 kr_error *err)
{
    zones->n = (column->count + FULL_TILE - 1) / FULL_TILE;
    kr_status status = kr_buffer_allocate(build->device, 2 * zones->n * sizeof(kr_key), build->stream,
                                          "zones of a column", "zones=off", &zones->buffer, err);
    const zones_params params = params_of(column, zones);
    if (status == KR_OK)
        status = run(build->device, &KR_W(full_zones), &params, zones->n, build->stream, err);
    return status == KR_OK ? decide(build, zones, err) : status;
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
