/* The life of an index. */
#include "core/index.h"
#include "core/index_body.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t staged_nbytes(kr_device *device, const void *pointer, uint64_t nbytes)
{
    return pointer && !kr_device_reaches(device, pointer) ? nbytes : 0;
}

kr_status kr_shape_make(kr_device *device, const kr_spec *spec, const kr_column *column,
                        const uint32_t *row_ids, kr_shape *shape, kr_error *err)
{
    if (column->count >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT, "%llu rows: an index holds at most 4294967294; split the column",
                       (unsigned long long)column->count);
    *shape = (kr_shape){
        .device = device,
        .spec = spec,
        .count = column->count,
        .type = column->type,
        .has_validity = column->validity != NULL,
        .has_row_ids = row_ids != NULL,
        .staged_nbytes = staged_nbytes(device, column->data, column->count * kr_type_nbytes(column->type)) +
                         staged_nbytes(device, column->validity, kr_validity_nbytes(column)) +
                         staged_nbytes(device, row_ids, column->count * sizeof *row_ids),
    };
    return KR_OK;
}

kr_status kr_index_await(const kr_index *index, kr_stream *stream, kr_error *err)
{
    if (!index->ready)
        return KR_OK;
    return index->device->ops->event_wait(index->device, index->ready,
                                          kr_native_stream(index->device, stream), err);
}

/* One more than the largest row id in the index. Blocks. */
static kr_status find_row_limit(kr_index *index, kr_stream *stream, kr_error *err)
{
    kr_device *device = index->device;
    const uint64_t n = index->ops->n_rows(index->self);
    kr_buffer counter = {0};
    uint64_t most = 0;
    kr_status status = kr_buffer_allocate(device, sizeof most, stream, "a counter", NULL, &counter, err);
    if (status == KR_OK)
        status = kr_device_fill(device, counter.data, 0, sizeof most, stream, err);
    const largest_params params = {index->ops->rows(index->self), counter.data};
    if (status == KR_OK)
        status = kr_device_run(device, &index_largest_row, &params, n, stream, err);
    if (status == KR_OK)
        status = kr_device_copy(device, &most, counter.data, sizeof most, stream, err);
    if (status == KR_OK)
        status = kr_sync(device, stream, err);
    kr_buffer_release(device, &counter, stream);
    index->row_limit = n ? most + 1 : 0;
    return status;
}

/* What create brings to the device and gives back when the build is done. */
typedef struct inputs {
    kr_resident keys, rows;
} inputs;

static kr_status bring_inputs(kr_index *index, const kr_column *keys, const uint32_t *row_ids,
                              kr_stream *stream, inputs *in, kr_error *err)
{
    kr_status status = kr_resident_make(index->device, keys, "a copy of the keys", stream, &in->keys, err);
    if (status != KR_OK || !row_ids)
        return status;
    const kr_column rows = {.type = KR_U32, .count = keys->count, .data = row_ids};
    return kr_resident_make(index->device, &rows, "a copy of the row ids", stream, &in->rows, err);
}

static uint32_t differing_bits(const kr_index *index, kr_type type)
{
    uint64_t lowest = 0, highest = 0;
    uint32_t bits = 0;
    if (!index->ops->key_range)
        return kr_type_significant_bits(type);
    index->ops->key_range(index->self, &lowest, &highest);
    for (uint64_t differing = lowest ^ highest; differing; differing >>= 1)
        ++bits;
    return bits;
}

static void fill_info(kr_index *index, const kr_column *keys, const kr_stopwatch *watch, uint64_t before)
{
    kr_index_info *info = &index->info;
    kr_part parts[KR_STATS_PARTS];
    snprintf(info->device, sizeof info->device, "%s", index->device->name);
    snprintf(info->tracer, sizeof info->tracer, "none");
    info->type = keys->type;
    info->rows = index->ops->n_rows(index->self);
    info->n_parts = index->ops->parts(index->self, parts);
    for (uint32_t i = 0; i < info->n_parts; ++i) {
        snprintf(info->parts[i].name, sizeof info->parts[i].name, "%s", parts[i].name);
        info->parts[i].nbytes = parts[i].nbytes;
        info->footprint_nbytes += parts[i].nbytes;
    }
    index->key_bits = differing_bits(index, keys->type);
    const uint64_t most = kr_device_peak_end(index->device);
    info->peak_nbytes = most > before ? most - before : 0;
    info->n_phases = watch->n_phases;
    for (uint32_t i = 0; i < watch->n_phases; ++i)
        info->phases[i] = watch->phases[i];
}

static kr_status run_build(kr_index *index, const kr_column *keys, const uint32_t *row_ids, kr_stream *stream,
                           kr_stopwatch *watch, kr_error *err)
{
    inputs in = {0};
    kr_status status = bring_inputs(index, keys, row_ids, stream, &in, err);
    if (status == KR_OK) {
        kr_stopwatch_lap(watch, "copy");
        const kr_build build = {
            .device = index->device,
            .stream = stream,
            .spec = &index->spec,
            .keys = in.keys.column,
            .row_ids = in.rows.column.data,
            .watch = watch,
        };
        status = index->ops->build(&build, &index->self, err);
    }
    kr_resident_release(index->device, &in.rows, stream);
    kr_resident_release(index->device, &in.keys, stream);
    index->row_limit = keys->count;
    if (status == KR_OK && row_ids)
        status = find_row_limit(index, stream, err);
    if (status == KR_OK && !index->device->ops->is_host) {
        status = index->device->ops->event_create(index->device, &index->ready, err);
        if (status == KR_OK)
            status = index->device->ops->event_record(index->device, index->ready,
                                                      kr_native_stream(index->device, stream), err);
    }
    return status;
}

kr_status kr_index_make(kr_device *device, const kr_spec *spec, const kr_column *keys,
                        const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err)
{
    kr_index *made = kr_host_calloc(1, sizeof *made, "an index", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->device = device;
    made->spec = *spec;
    made->ops = kr_family_ops_of(spec->family, keys->type);
    kr_status status = kr_spec_format(spec, made->info.spec, sizeof made->info.spec, err);
    if (status == KR_OK && !made->ops->runs_on(device, spec))
        status = kr_fail(err, KR_ERR_UNSUPPORTED, "kind '%s' does not run on device '%s'",
                         spec->family->info.name, device->name);
    kr_stopwatch watch;
    const uint64_t before = kr_device_peak_begin(device);
    kr_stopwatch_start(&watch, device, stream);
    if (status == KR_OK)
        status = run_build(made, keys, row_ids, stream, &watch, err);
    if (status != KR_OK) {
        kr_index_destroy(made);
        return status;
    }
    fill_info(made, keys, &watch, before);
    *index = made;
    return KR_OK;
}

void kr_index_destroy(kr_index *index)
{
    if (!index)
        return;
    if (index->self) {
        kr_device_drain(index->device);
        index->ops->destroy(index->device, index->self);
    }
    if (index->ready)
        index->device->ops->event_destroy(index->device, index->ready);
    free(index);
}
