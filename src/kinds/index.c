/* The life of an index. */
#include "kinds/index.h"
#include "kinds/index_body.h"
#include "results/dense.h"
#include "results/row_ids.h"

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
    const kr_device_ops *ops = index->device->ops;
    if (!index->ready || atomic_load_explicit(&((kr_index *)index)->is_ready, memory_order_acquire))
        return KR_OK;
    if (ops->event_done && ops->event_done(index->device, index->ready)) {
        atomic_store_explicit(&((kr_index *)index)->is_ready, 1, memory_order_release);
        return KR_OK;
    }
    return ops->event_wait(index->device, index->ready, kr_native_stream(index->device, stream), err);
}

static kr_status runs_on(const kr_family_ops *ops, kr_device *device, const kr_spec *spec, kr_error *err)
{
    if (!ops->program || device->ops->can_run(device, ops->program))
        return ops->runs_on ? ops->runs_on(device, spec, err) : KR_OK;
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "kind '%s' does not run on device '%s': its programs were not built; build keyray "
                   "with CUDA",
                   spec->kind->name, device->name);
}

void kr_family_tracer(const kr_family_ops *ops, kr_device *device, char text[64])
{
    snprintf(text, 64, "none");
    if (ops->tracer)
        ops->tracer(device, text);
}

/* Device copies of a call's arrays, released at its end. */
typedef struct inputs {
    kr_resident keys, rows, deleted;
    kr_buffer counters; /* KR_ROWS_COUNTERS */
} inputs;

static kr_status add_counters(kr_device *device, kr_stream *stream, inputs *in, kr_error *err)
{
    return kr_counters_make(device, stream, KR_ROWS_COUNTERS, &in->counters, err);
}

static kr_status summarize(kr_device *device, const kr_rows *rows, const inputs *in, kr_stream *stream,
                           kr_rows_summary *summary, kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    *summary = kr_rows_summarize(&w, rows, in->counters.data);
    return kr_work_end(&w);
}

static kr_status find_row_limit(kr_index *index, const inputs *in, kr_stream *stream, kr_error *err)
{
    const kr_rows rows = index->ops->rows(index->self);
    kr_rows_summary summary;
    const kr_status status = summarize(index->device, &rows, in, stream, &summary, err);
    if (status == KR_OK)
        index->row_limit = summary.end;
    return status;
}

/* Summarizes the row ids that the caller gave, those of NULL keys included. */
static kr_status summarize_given(kr_device *device, const inputs *in, kr_stream *stream,
                                 kr_rows_summary *summary, kr_error *err)
{
    const kr_rows rows = kr_dense_rows(in->rows.column.data, sizeof(uint32_t), in->rows.column.count);
    return summarize(device, &rows, in, stream, summary, err);
}

/* Fails if there is a NULL. Blocks. */
static kr_status refuse_nulls(kr_device *device, inputs *in, kr_stream *stream, kr_error *err)
{
    const kr_column *keys = &in->keys.column;
    uint64_t last = 0;
    if (!keys->validity)
        return KR_OK;
    kr_status status = add_counters(device, stream, in, err);
    const last_null_params params = {keys->validity, in->counters.data, keys->validity_offset};
    if (status == KR_OK)
        status = kr_device_run(device, &index_last_null, &params, keys->count, stream, err);
    if (status == KR_OK)
        status = kr_counters_read(device, stream, &in->counters, &last, 1, err);
    if (status == KR_OK && last)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "key %llu is NULL: an indexed row must keep a key; give it another value",
                       (unsigned long long)last - 1);
    return status;
}

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
    if (!index->ops->ordered)
        return kr_type_significant_bits(type);
    index->ops->ordered->key_range(index->self, &lowest, &highest);
    for (uint64_t differing = lowest ^ highest; differing; differing >>= 1)
        ++bits;
    return bits;
}

static void release_inputs(kr_index *index, kr_stream *stream, inputs *in)
{
    kr_buffer_release(index->device, &in->counters, stream);
    kr_resident_release(index->device, &in->deleted, stream);
    kr_resident_release(index->device, &in->rows, stream);
    kr_resident_release(index->device, &in->keys, stream);
}

/* After a build or a change; `before`: bytes in use without the index. */
static void fill_info(kr_index *index, kr_type type, const kr_stopwatch *watch, uint64_t peak_nbytes)
{
    kr_index_info *info = &index->info;
    kr_component components[KR_COMPONENTS_MOST];
    snprintf(info->device, sizeof info->device, "%s", index->device->name);
    kr_family_tracer(index->ops, index->device, info->tracer);
    info->type = type;
    info->footprint_nbytes = 0;
    info->rows = index->ops->rows(index->self).n_rows;
    const uint32_t n = index->ops->components(index->self, components);
    for (uint32_t i = 0; i < n; ++i)
        info->footprint_nbytes += components[i].nbytes;
    index->key_bits = differing_bits(index, type);
    info->peak_nbytes = peak_nbytes;
    index->phases = watch->phases;
}

static kr_status record_ready(kr_index *index, kr_stream *stream, kr_error *err)
{
    kr_device *device = index->device;
    kr_status status = KR_OK;
    ++index->version;
    atomic_store(&index->is_ready, 0);
    if (device->ops->is_host)
        return KR_OK;
    if (!index->ready)
        status = device->ops->event_create(device, &index->ready, err);
    return status == KR_OK
               ? device->ops->event_record(device, index->ready, kr_native_stream(device, stream), err)
               : status;
}

/* For a build with the caller's row ids. */
static kr_status find_given_rows(kr_index *index, kr_stream *stream, inputs *in, kr_error *err)
{
    kr_rows_summary given;
    kr_status status = add_counters(index->device, stream, in, err);
    if (status == KR_OK)
        status = find_row_limit(index, in, stream, err);
    if (status == KR_OK)
        status = summarize_given(index->device, in, stream, &given, err);
    if (status == KR_OK)
        index->info.next_row = given.end;
    return status;
}

/* What an index is made of. */
typedef struct source {
    const kr_column *keys;
    const uint32_t *row_ids;
    uint32_t used_bits;
    kr_stream *stream;
} source;

static kr_status run_build(kr_index *index, const source *from, kr_stopwatch *watch, kr_error *err)
{
    const kr_column *keys = from->keys;
    const uint32_t *row_ids = from->row_ids;
    kr_stream *stream = from->stream;
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
            .used_bits = from->used_bits,
            .watch = watch,
            .is_unique = &index->is_unique,
        };
        status = index->ops->build(&build, &index->self, err);
    }
    index->row_limit = index->info.next_row = keys->count;
    if (status == KR_OK && row_ids)
        status = find_given_rows(index, stream, &in, err);
    release_inputs(index, stream, &in);
    return status == KR_OK ? record_ready(index, stream, err) : status;
}

static kr_status make(kr_device *device, const kr_spec *spec, const source *from, kr_index **index,
                      kr_error *err)
{
    kr_index *made = kr_host_calloc(1, sizeof *made, "an index", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->device = device;
    made->spec = *spec;
    made->dictionary = from->keys->dictionary;
    made->ops = kr_family_ops_of(spec->kind->family, from->keys->type);
    kr_status status = kr_spec_format(spec, made->info.spec, sizeof made->info.spec, err);
    if (status == KR_OK)
        status = runs_on(made->ops, device, spec, err);
    kr_stopwatch watch;
    kr_peak peak;
    kr_peak_begin(&peak, device);
    kr_stopwatch_start(&watch, device, from->stream);
    if (status == KR_OK)
        status = run_build(made, from, &watch, err);
    kr_stopwatch_stop(&watch);
    const uint64_t peak_nbytes = kr_peak_end(&peak);
    if (status != KR_OK) {
        kr_index_destroy(made);
        return status;
    }
    fill_info(made, from->keys->type, &watch, peak_nbytes);
    *index = made;
    return KR_OK;
}

kr_status kr_index_make(kr_device *device, const kr_spec *spec, const kr_column *keys,
                        const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err)
{
    const source from = {.keys = keys, .row_ids = row_ids, .stream = stream};
    return make(device, spec, &from, index, err);
}

kr_status kr_index_make_narrow(kr_device *device, const kr_spec *spec, const kr_column *keys,
                               uint32_t used_bits, kr_index **index, kr_error *err)
{
    const source from = {.keys = keys, .used_bits = used_bits};
    return make(device, spec, &from, index, err);
}

static kr_status run_change(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                            kr_stream *stream, kr_stopwatch *watch, kr_error *err)
{
    inputs in = {0};
    kr_status status = bring_inputs(index, keys, row_ids, stream, &in, err);
    if (status == KR_OK)
        status = refuse_nulls(index->device, &in, stream, err);
    if (status == KR_OK) {
        kr_stopwatch_lap(watch, "copy");
        kr_device_drain(index->device); /* lookups that still read what is there */
        const kr_set_keys job = {
            .stream = stream, .row_ids = in.rows.column.data, .keys = in.keys.column, .watch = watch};
        index->is_unique = 0;
        status = index->ops->set_keys(index->device, index->self, &job, err);
    }
    release_inputs(index, stream, &in);
    return status == KR_OK ? record_ready(index, stream, err) : status;
}

kr_status kr_set_keys_apply(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                            kr_stream *stream, kr_error *err)
{
    kr_stopwatch watch;
    kr_peak peak;
    kr_status status = kr_index_await(index, stream, err);
    if (status != KR_OK)
        return status;
    kr_peak_begin(&peak, index->device);
    kr_stopwatch_start(&watch, index->device, stream);
    status = run_change(index, row_ids, keys, stream, &watch, err);
    kr_stopwatch_stop(&watch);
    const uint64_t peak_nbytes = index->info.footprint_nbytes + kr_peak_end(&peak);
    if (status == KR_OK)
        fill_info(index, keys->type, &watch, peak_nbytes);
    return status;
}

static kr_status bring_update(kr_index *index, const kr_update *wanted, inputs *in, kr_error *err)
{
    kr_status status =
        bring_inputs(index, &wanted->insert_keys, wanted->insert_rows, wanted->stream, in, err);
    if (status == KR_OK)
        status = kr_resident_make(index->device, &wanted->delete_keys, "a copy of the deleted keys",
                                  wanted->stream, &in->deleted, err);
    /* for find_inserted_end */
    return status == KR_OK ? add_counters(index->device, wanted->stream, in, err) : status;
}

/* One more than the largest row id among the inserted rows. Blocks. */
static kr_status find_inserted_end(const kr_index *index, const kr_update *wanted, const inputs *in,
                                   uint64_t *end, kr_error *err)
{
    *end = wanted->insert_keys.count ? index->info.next_row + wanted->insert_keys.count : 0;
    if (!wanted->insert_rows)
        return KR_OK;
    kr_rows_summary given;
    const kr_status status = summarize_given(index->device, in, wanted->stream, &given, err);
    if (status != KR_OK)
        return status;
    *end = given.end;
    if (given.count < in->rows.column.count)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "insert_rows holds %u (KR_NO_ROW), which is not a row id; give ids below it",
                       KR_NO_ROW);
    return KR_OK;
}

static kr_status run_update(kr_index *index, const kr_update *wanted, kr_stopwatch *watch, kr_error *err)
{
    inputs in = {0};
    uint64_t end = 0;
    kr_status status = bring_update(index, wanted, &in, err);
    if (status == KR_OK)
        status = find_inserted_end(index, wanted, &in, &end, err);
    if (status == KR_OK) {
        kr_stopwatch_lap(watch, "copy");
        kr_device_drain(index->device); /* lookups that still read what is there */
        const kr_update job = {.stream = wanted->stream,
                               .delete_keys = in.deleted.column,
                               .insert_keys = in.keys.column,
                               .insert_rows = in.rows.column.data,
                               .next_row = (uint32_t)index->info.next_row,
                               .watch = watch};
        index->is_unique = 0;
        status = index->ops->update(index->device, index->self, &job, err);
    }
    if (status == KR_OK) {
        ++index->version; /* even if waiting fails: recordings hold addresses that may be gone */
        status = kr_device_sync(index->device, wanted->stream, err);
    }
    if (status == KR_OK) {
        /* After deletes, a pass over all rows could lower the limit, but would take longer than they do. */
        index->info.next_row = end > index->info.next_row ? end : index->info.next_row;
        index->row_limit = index->info.next_row;
    }
    release_inputs(index, wanted->stream, &in);
    return status == KR_OK ? record_ready(index, wanted->stream, err) : status;
}

kr_status kr_update_apply(kr_index *index, const kr_update *wanted, kr_error *err)
{
    kr_stopwatch watch;
    kr_peak peak;
    /* Without rows, the kind only says whether it can update. */
    if (!wanted->insert_keys.count && !wanted->delete_keys.count)
        return index->ops->update(index->device, index->self, wanted, err);
    kr_status status = kr_index_await(index, wanted->stream, err);
    if (status != KR_OK)
        return status;
    kr_peak_begin(&peak, index->device);
    kr_stopwatch_start(&watch, index->device, wanted->stream);
    status = run_update(index, wanted, &watch, err);
    kr_stopwatch_stop(&watch);
    const uint64_t peak_nbytes = index->info.footprint_nbytes + kr_peak_end(&peak);
    if (status == KR_OK)
        fill_info(index, index->info.type, &watch, peak_nbytes);
    return status;
}

kr_status kr_index_check(const kr_index *index, kr_error *err)
{
    const kr_rows rows = index->ops->rows(index->self);
    kr_status status = kr_index_await(index, NULL, err);
    if (status == KR_OK && index->ops->validate)
        status = index->ops->validate(index->device, index->self, err);
    return status == KR_OK ? kr_rows_validate(index->device, &rows, err) : status;
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
