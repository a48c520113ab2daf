/* The life of an index. */
#include "index/kinds/index.h"
#include "base/image/saved.h"
#include "index/kinds/choose.h"
#include "index/kinds/index_body.h"
#include "index/results/dense.h"
#include "index/results/row_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t staged_nbytes(kr_device *device, const void *pointer, uint64_t nbytes)
{
    return pointer && !kr_device_reaches(device, pointer) ? nbytes : 0;
}

static kr_status check_type(const kr_spec *spec, uint32_t type, kr_error *err)
{
    const kr_family *family = spec->kind->family;
    return family->takes ? family->takes(type, err) : KR_OK;
}

kr_status kr_index_shape_make(kr_device *device, const kr_spec *spec, const kr_column *column,
                              const uint32_t *row_ids, kr_shape *shape, kr_error *err)
{
    if (column->count >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT, "%llu rows: an index holds at most 4294967294; split the column",
                       (unsigned long long)column->count);
    const kr_status status = check_type(spec, column->type, err);
    if (status != KR_OK)
        return status;
    *shape = (kr_shape){
        .device = device,
        .spec = spec,
        .count = column->count,
        .type = column->type,
        .has_validity = column->validity != NULL,
        .has_row_ids = row_ids != NULL,
        .staged_nbytes = staged_nbytes(device, column->data, column->count * kr_type_nbytes(column->type)) +
                         staged_nbytes(device, column->validity, kr_column_validity_nbytes(column)) +
                         staged_nbytes(device, row_ids, column->count * sizeof *row_ids),
    };
    return KR_OK;
}

kr_status kr_index_await(const kr_index *index, kr_stream *stream, kr_error *err)
{
    const kr_device_ops *ops = index->device->ops;
    kr_users_note(index->device, &((kr_index *)index)->users, stream);
    if (!index->ready || atomic_load_explicit(&((kr_index *)index)->is_ready, memory_order_acquire))
        return KR_OK;
    if (ops->event_done && ops->event_done(index->device, index->ready)) {
        atomic_store_explicit(&((kr_index *)index)->is_ready, 1, memory_order_release);
        return KR_OK;
    }
    return ops->event_wait(index->device, index->ready, kr_stream_native(index->device, stream), err);
}

kr_status kr_index_await_here(const kr_index *index, kr_error *err)
{
    const kr_device_ops *ops = index->device->ops;
    if (!index->ready || atomic_load_explicit(&((kr_index *)index)->is_ready, memory_order_acquire))
        return KR_OK;
    const kr_status status = ops->event_sync(index->device, index->ready, err);
    if (status == KR_OK)
        atomic_store_explicit(&((kr_index *)index)->is_ready, 1, memory_order_release);
    return status;
}

/* 1: keep=host is another place than keep=device there. */
static int divides(const kr_device *device)
{
    return !device->ops->is_host || device->keeping.divides;
}

int kr_index_divides(const kr_device *device, const kr_spec *spec)
{
    const kr_family *family = spec->kind->family;
    return family->keeps_on_host && family->keeps_on_host(spec) && divides(device);
}

const kr_family_ops *kr_index_ops(const kr_device *device, const kr_spec *spec, uint32_t type)
{
    return kr_index_divides(device, spec) ? &kr_divided_ops : kr_family_ops_of(spec->kind->family, type);
}

kr_status kr_index_runs_on(const kr_family_ops *ops, kr_device *device, const kr_spec *spec, kr_error *err)
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

/* A call's columns in device memory. */
typedef struct inputs {
    kr_column keys, rows, deleted; /* rows: without data if there are none */
} inputs;

/* Of the row ids that the caller gave, those of NULL keys included. */
static kr_rows_summary summarize_given(kr_work *w, const inputs *in, uint64_t *counters)
{
    const kr_rows rows = kr_dense_rows(in->rows.data, sizeof(uint32_t), in->rows.count);
    return kr_row_ids_summarize(w, &rows, counters);
}

/* Fails if there is a NULL. Blocks. */
static void refuse_nulls(kr_work *w, const kr_column *keys)
{
    if (!keys->validity)
        return;
    uint64_t *counters = kr_work_counters(w, 1), last = 0;
    const last_null_params params = {keys->validity, counters, keys->validity_offset};
    kr_work_run(w, &index_last_null, &params, keys->count);
    kr_work_read(w, &last, counters, sizeof last);
    kr_work_give(w, counters);
    if (last)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "key %llu is NULL: an indexed row must keep a key; give it another value",
                           (unsigned long long)last - 1));
}

static inputs bring_inputs(kr_work *w, const kr_column *keys, const uint32_t *row_ids)
{
    inputs in = {.keys = kr_column_bring(w, keys, "a copy of the keys")};
    const kr_column rows = {.type = KR_U32, .count = keys->count, .data = row_ids};
    in.rows = row_ids ? kr_column_bring(w, &rows, "a copy of the row ids") : (kr_column){0};
    return in;
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

uint32_t kr_index_components(const kr_index *index, kr_component *all)
{
    uint32_t n = index->ops->components(index->self, all);
    const uint64_t ranks = index->composite ? kr_composite_nbytes(index->composite) : 0;
    if (ranks)
        all[n++] = (kr_component){"ranks of columns", ranks};
    const uint64_t texts = index->texts       ? kr_index_texts_do.nbytes(index->texts)
                           : index->composite ? kr_composite_texts_nbytes(index->composite)
                                              : 0;
    if (texts)
        all[n++] = (kr_component){"texts", texts};
    return n;
}

void kr_index_fill_info(kr_index *index, kr_type type, const kr_stopwatch *watch, uint64_t peak_nbytes)
{
    kr_index_info *info = &index->info;
    kr_component components[KR_COMPONENTS_MOST];
    snprintf(info->device, sizeof info->device, "%s", index->device->name);
    kr_family_tracer(index->ops, index->device, info->tracer);
    info->type = type;
    info->footprint_nbytes = 0;
    info->rows = index->ops->rows(index->self).n_rows;
    const uint32_t n = kr_index_components(index, components);
    for (uint32_t i = 0; i < n; ++i)
        info->footprint_nbytes += components[i].nbytes;
    info->n_columns = index->composite ? index->composite->n : 0;
    index->key_bits = differing_bits(index, type);
    info->peak_nbytes = peak_nbytes;
    index->phases = watch->phases;
}

void kr_index_record_ready(kr_work *w, kr_index *index)
{
    kr_device *device = index->device;
    if (!kr_work_goes_on(w))
        return;
    ++index->version;
    atomic_store(&index->is_ready, 0);
    kr_users_note(device, &index->users, w->stream);
    kr_users_mark(device, w->stream);
    if (device->ops->is_host)
        return;
    if (!index->ready)
        KR_STEP(w, device->ops->event_create(device, &index->ready, w->err));
    KR_STEP(w, device->ops->event_record(device, index->ready, kr_stream_native(device, w->stream), w->err));
}

/* For a build with the caller's row ids. */
static void find_given_rows(kr_work *w, kr_index *index, const inputs *in)
{
    uint64_t *counters = kr_work_counters(w, KR_ROWS_COUNTERS);
    if (!kr_work_goes_on(w))
        return;
    const kr_rows rows = index->ops->rows(index->self);
    index->row_limit = kr_row_ids_summarize(w, &rows, counters).end;
    index->info.next_row = summarize_given(w, in, counters).end;
}

/* What an index is made of. */
typedef struct source {
    const kr_column *keys;
    const uint32_t *row_ids;
    const char *looks_for; /* "best": the kind depends on the keys; NULL: it is as given */
    uint64_t lookups;      /* then, as of kr_choose_seen */
    uint32_t used_bits;
    kr_stream *stream;
} source;

/* The kind of a new index, and whether the device can run it. */
static void set_spec(kr_work *w, kr_index *index, const kr_spec *spec, uint32_t type)
{
    index->spec = *spec;
    index->ops = kr_index_ops(index->device, spec, type);
    KR_STEP(w, kr_spec_format(spec, index->info.spec, sizeof index->info.spec, w->err));
    KR_STEP(w, check_type(spec, type, w->err));
    KR_STEP(w, kr_index_runs_on(index->ops, index->device, spec, w->err));
}

/* Decides by the keys as the build gets them, whatever an explanation saw before. */
static void look_at_keys(kr_work *w, kr_index *index, const source *from, const kr_column *keys)
{
    kr_spec spec = index->spec;
    const kr_look look = kr_look_at(w, keys);
    kr_choose_seen(index->device, from->looks_for, &look, from->lookups, &spec, NULL);
    if (kr_work_goes_on(w))
        set_spec(w, index, &spec, (uint32_t)keys->type);
    kr_work_lap(w, "look");
}

static void run_build(kr_work *w, kr_index *index, const source *from)
{
    const int is_kept = index->ops->kept != NULL;
    kr_row_ends ends = {0};
    inputs in = {.keys = *from->keys, .rows = {.data = from->row_ids}};
    if (!is_kept)
        in = bring_inputs(w, from->keys, from->row_ids);
    kr_work_lap(w, "copy");
    if (from->looks_for && !is_kept && kr_work_goes_on(w))
        look_at_keys(w, index, from, &in.keys);
    const kr_build build = {
        .spec = &index->spec,
        .keys = in.keys,
        .row_ids = in.rows.data,
        .used_bits = from->used_bits,
        .is_unique = &index->is_unique,
        .ends = &ends,
    };
    const uint32_t mark = kr_work_mark(w);
    if (kr_work_goes_on(w))
        index->ops->build(w, &build, &index->self);
    kr_work_give_since(w, mark);
    index->row_limit = index->info.next_row = from->keys->count;
    if (from->row_ids && !is_kept)
        find_given_rows(w, index, &in);
    if (from->row_ids && is_kept) {
        index->row_limit = ends.indexed;
        index->info.next_row = ends.given;
    }
    kr_work_give_since(w, 0);
    kr_index_record_ready(w, index);
}

void kr_index_name_keep(const kr_index *index, kr_error *err)
{
    const kr_family *family = index->spec.kind->family;
    const size_t used = err ? strlen(err->text) : 0;
    if (err && err->status == KR_ERR_DEVICE_MEMORY && family->keeps_on_host &&
        !family->keeps_on_host(&index->spec) && divides(index->device))
        snprintf(err->text + used, sizeof err->text - used,
                 "; with keep=host entries lie in host memory, and the device needs less");
}

static kr_status make(kr_device *device, const kr_spec *spec, const source *from, kr_index **index,
                      kr_error *err)
{
    kr_work w = kr_work_on(device, from->stream, err);
    kr_stopwatch watch;
    kr_peak peak;
    kr_index *made = kr_work_object(&w, sizeof *made, "an index");
    if (!made)
        return kr_work_end(&w);
    made->device = device;
    kr_users_note(device, &made->users, from->stream);
    made->dictionary = from->keys->dictionary;
    set_spec(&w, made, spec, (uint32_t)from->keys->type);
    kr_work_peak_begin(&w, &peak);
    kr_stopwatch_start(&watch, device, w.stream);
    w.watch = &watch;
    run_build(&w, made, from);
    kr_stopwatch_stop(&watch);
    const uint64_t peak_nbytes = kr_work_peak_end(&w, &peak);
    const kr_status status = kr_work_end(&w);
    if (status != KR_OK) {
        kr_index_name_keep(made, err);
        kr_index_release(made, from->stream);
        return status;
    }
    kr_index_fill_info(made, from->keys->type, &watch, peak_nbytes);
    *index = made;
    return KR_OK;
}

kr_status kr_index_make(kr_device *device, const kr_spec *spec, const kr_column *keys,
                        const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err)
{
    const source from = {.keys = keys, .row_ids = row_ids, .stream = stream};
    return make(device, spec, &from, index, err);
}

kr_status kr_index_make_best(kr_device *device, const char *text, uint64_t lookups, const kr_spec *spec,
                             const kr_column *keys, const uint32_t *row_ids, kr_stream *stream,
                             kr_index **index, kr_error *err)
{
    const source from = {.keys = keys,
                         .row_ids = row_ids,
                         .looks_for = kr_choose_looks(device, text) ? text : NULL,
                         .lookups = lookups,
                         .stream = stream};
    return make(device, spec, &from, index, err);
}

kr_status kr_index_make_narrow(kr_device *device, const kr_spec *spec, const kr_column *keys,
                               const uint32_t *row_ids, uint32_t used_bits, kr_stream *stream,
                               kr_index **index, kr_error *err)
{
    const source from = {.keys = keys, .row_ids = row_ids, .used_bits = used_bits, .stream = stream};
    return make(device, spec, &from, index, err);
}

/* ---- Changes ---------------------------------------------------------------------------------- */

/* What a change is measured by, from its beginning to its end. */
typedef struct change {
    kr_stopwatch watch;
    kr_peak peak;
} change;

static kr_work begin_change(kr_index *index, change *c, kr_stream *stream, kr_error *err)
{
    kr_work w = kr_work_on(index->device, stream, err);
    KR_STEP(&w, kr_index_await(index, stream, err));
    kr_work_peak_begin(&w, &c->peak);
    kr_stopwatch_start(&c->watch, index->device, w.stream);
    w.watch = &c->watch;
    return w;
}

static kr_status end_change(kr_work *w, kr_index *index, change *c, kr_type type)
{
    kr_work_give_since(w, 0);
    kr_index_record_ready(w, index);
    kr_users_mark(w->device, w->stream); /* also behind what a change that failed has enqueued */
    kr_stopwatch_stop(&c->watch);
    const uint64_t peak_nbytes = index->info.footprint_nbytes + kr_work_peak_end(w, &c->peak);
    if (kr_work_goes_on(w))
        kr_index_fill_info(index, type, &c->watch, peak_nbytes);
    return kr_work_end(w);
}

/* The columns are there. Waits for lookups that still read the index, which then has memory of its own, and
 * forgets whether its keys are distinct. 0: a step failed. */
static int begin_writing(kr_work *w, kr_index *index)
{
    if (!kr_work_goes_on(w))
        return 0;
    kr_work_lap(w, "copy");
    kr_users_take(index->device, &index->users, w->stream);
    if (!index->is_lent)
        kr_index_own(w, index);
    if (!kr_work_goes_on(w))
        return 0;
    index->is_unique = 0;
    return 1;
}

/* `later` takes the place of the structure, and may be NULL: nothing has changed. */
static void replace(kr_work *w, kr_index *index, void *later)
{
    const int is_done = later && kr_work_goes_on(w);
    if (later && !is_done)
        kr_work_finish(w);
    void *unused = is_done && index->is_lent ? NULL : is_done ? index->self : later;
    if (unused)
        index->ops->destroy(index->device, unused, w->stream);
    if (!is_done)
        return;
    index->self = later;
    index->is_lent = 0;
}

/* An update of any kind, of an index that nobody looks up in or of one that is lent its structure. */
static void change_structure(kr_work *w, kr_index *index, const kr_update *job)
{
    void *later = NULL;
    if (index->ops->next) {
        index->ops->next(w, index->self, job, &later);
        replace(w, index, later);
        return;
    }
    kr_index_version_copy(w, index);
    if (kr_work_goes_on(w))
        index->ops->update(w, index->self, job);
}

kr_status kr_index_set_keys_apply(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                                  kr_stream *stream, kr_error *err)
{
    change c;
    if (index->ops->kept) {
        /* A divided index only says that it cannot. */
        kr_work only = kr_work_on(index->device, stream, err);
        index->ops->set_keys(&only, index->self, &(kr_set_keys){0});
        return kr_work_end(&only);
    }
    kr_work w = begin_change(index, &c, stream, err);
    const inputs in = bring_inputs(&w, keys, row_ids);
    refuse_nulls(&w, &in.keys);
    const kr_set_keys job = {.row_ids = in.rows.data, .keys = in.keys};
    if (begin_writing(&w, index))
        index->ops->set_keys(&w, index->self, &job);
    return end_change(&w, index, &c, keys->type);
}

/* One more than the largest row id among the inserted rows. Blocks. */
static uint64_t find_inserted_end(kr_work *w, const kr_index *index, const kr_update *wanted,
                                  const inputs *in)
{
    if (!wanted->insert_rows)
        return wanted->insert_keys.count ? index->info.next_row + wanted->insert_keys.count : 0;
    uint64_t *counters = kr_work_counters(w, KR_ROWS_COUNTERS);
    const kr_rows_summary given = summarize_given(w, in, counters);
    kr_work_give(w, counters);
    if (given.count < in->rows.count)
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "insert_rows holds %u (KR_NO_ROW), which is not a row id; give ids below it",
                           KR_NO_ROW));
    return given.end;
}

static void run_update(kr_work *w, kr_index *index, const kr_update *wanted)
{
    inputs in = bring_inputs(w, &wanted->insert_keys, wanted->insert_rows);
    in.deleted = kr_column_bring(w, &wanted->delete_keys, "a copy of the deleted keys");
    const uint64_t end = find_inserted_end(w, index, wanted, &in);
    const kr_update job = {.delete_keys = in.deleted,
                           .insert_keys = in.keys,
                           .insert_rows = in.rows.data,
                           .next_row = (uint32_t)index->info.next_row};
    if (begin_writing(w, index))
        change_structure(w, index, &job);
    if (!kr_work_goes_on(w))
        return;
    ++index->version; /* even if waiting fails: recordings hold addresses that may be gone */
    kr_work_sync(w);
    if (!kr_work_goes_on(w))
        return;
    /* After deletes, a pass over all rows could lower the limit, but would take longer than they do. */
    index->info.next_row = end > index->info.next_row ? end : index->info.next_row;
    index->row_limit = index->info.next_row;
}

kr_status kr_index_update_apply(kr_index *index, const kr_update *wanted, kr_stream *stream, kr_error *err)
{
    change c;
    if ((!wanted->insert_keys.count && !wanted->delete_keys.count) || index->ops->kept) {
        /* Without rows, the kind only says whether it can update. A divided index cannot. */
        kr_work only = kr_work_on(index->device, stream, err);
        if (index->ops->update)
            index->ops->update(&only, index->self, wanted);
        return kr_work_end(&only);
    }
    kr_work w = begin_change(index, &c, stream, err);
    run_update(&w, index, wanted);
    return end_change(&w, index, &c, index->info.type);
}

/* Joins take one row of a key where keys are distinct. */
static void validate(kr_work *w, const kr_index *index)
{
    const int is_unique = index->ops->validate(w, index->self);
    if (index->is_unique && !is_unique)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "keys were distinct after the build, and are not"));
}

void kr_index_check_family(kr_work *w, const kr_index *index)
{
    if (index->composite)
        kr_composite_check(w, index->composite);
    if (index->texts && kr_work_goes_on(w))
        kr_index_texts_do.verify(w, index->texts);
    if (index->ops->validate && kr_work_goes_on(w))
        validate(w, index);
    /* Last: keys are looked up, which only a structure that is whole allows. */
    if (index->texts && kr_work_goes_on(w))
        kr_index_texts_do.check_keys(w, index);
}

kr_status kr_index_check(const kr_index *index, kr_error *err)
{
    const kr_rows rows = index->ops->rows(index->self);
    kr_work w = kr_work_on(index->device, NULL, err);
    KR_STEP(&w, kr_index_await(index, NULL, err));
    kr_index_check_family(&w, index);
    kr_work_give_since(&w, 0);
    if (index->ops->kept)
        (void)index->ops->check_rows(&w, index->self, 1);
    else
        (void)kr_row_ids_check_all(&w, &rows, 1, 1);
    return kr_work_end(&w);
}

void kr_index_release(kr_index *index, kr_stream *stream)
{
    if (!index)
        return;
    if (stream) { /* of the call that ends it, whose own work need not be noted */
        kr_users_note(index->device, &index->users, stream);
        kr_users_mark(index->device, stream);
    }
    kr_users_wait(index->device, &index->users);
    if (index->self && !index->is_lent)
        index->ops->destroy(index->device, index->self, stream);
    kr_holders_end(&index->life);
    if (index->ready)
        index->device->ops->event_destroy(index->device, index->ready);
    if (index->composite)
        kr_composite_release(index->device, index->composite, stream);
    kr_saved_release(index->mapped);
    free(index->composite);
    if (index->texts)
        kr_index_texts_do.release(index->texts, stream);
    free(index);
}

void kr_index_destroy(kr_index *index)
{
    kr_index_release(index, NULL);
}
