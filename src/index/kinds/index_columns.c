/* Indexes over several columns: their columns become one key, and from there on they are indexes like any
 * other. */
#include "base/key/key.h"
#include "index/kinds/index.h"

#include <stdlib.h>

#define HELP "index fewer columns, or parts of them"

/* Columns in device memory: a work has no room for the copies of so many. */
typedef struct here {
    uint32_t n;
    kr_resident copies[KR_COMPOSITE_MOST];
    kr_column columns[KR_COMPOSITE_MOST];
} here;

static void bring(kr_work *w, const kr_column *columns, uint32_t n, here *h)
{
    *h = (here){.n = n};
    for (uint32_t j = 0; j < n; ++j) {
        KR_STEP(w, kr_column_resident_make(w->device, &columns[j], "a copy of the columns", w->stream,
                                           &h->copies[j], w->err));
        h->columns[j] = h->copies[j].column;
    }
    kr_work_lap(w, "copy");
}

static void release(kr_work *w, here *h)
{
    for (uint32_t j = 0; j < h->n; ++j)
        kr_column_resident_release(w->device, &h->copies[j], w->stream);
}

/* ---- Builds --------------------------------------------------------------------------------------- */

static kr_column fold(kr_work *w, const kr_column *columns, uint32_t n, kr_composite *composite)
{
    here h;
    bring(w, columns, n, &h);
    kr_composite_source sources[KR_COMPOSITE_MOST];
    const kr_composite_rows rows = {.columns = h.columns, .n = n, .last = KR_FOLD_ONLY};
    kr_column keys = {.count = 0};
    for (uint32_t j = 0; j < n; ++j)
        sources[j] = (kr_composite_source){{&h.columns[j]}, 1};
    if (kr_work_goes_on(w))
        kr_composite_make(w, sources, n, HELP, composite);
    if (kr_work_goes_on(w))
        keys = kr_composite_fold(w, composite, &rows, HELP);
    release(w, &h);
    kr_work_lap(w, "fold");
    return keys;
}

/* The index takes `composite`, which has its lists as scratch memory of the work. */
static void finish(kr_work *w, const kr_column *columns, kr_composite *composite, kr_index *index)
{
    kr_composite_keep(w, composite);
    index->composite = composite;
    index->dictionary = 0;
    for (uint32_t j = 0; j < composite->n; ++j)
        composite->columns[j].dictionary = columns[j].dictionary;
    index->info.n_columns = composite->n;
    index->info.footprint_nbytes += kr_composite_nbytes(composite);
}

kr_status kr_index_make_columns(kr_device *device, const kr_spec *spec, const kr_column *columns, uint32_t n,
                                const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_stopwatch watch;
    kr_peak peak;
    kr_index *made = NULL;
    kr_composite *composite = kr_work_object(&w, sizeof *composite, "columns of an index");
    if (!composite)
        return kr_work_end(&w);
    kr_work_peak_begin(&w, &peak);
    kr_stopwatch_start(&watch, device, w.stream);
    w.watch = &watch;
    const kr_column keys = fold(&w, columns, n, composite);
    kr_stopwatch_stop(&watch);
    w.watch = NULL;
    KR_STEP(&w, kr_index_make_narrow(device, spec, &keys, row_ids, composite->bits, w.stream, &made, err));
    if (kr_work_goes_on(&w))
        finish(&w, columns, composite, made);
    kr_work_give_since(&w, 0);
    const uint64_t peak_nbytes = kr_work_peak_end(&w, &peak);
    const kr_status status = kr_work_end(&w);
    if (!made) {
        free(composite);
        return status;
    }
    kr_phases_add(&watch.phases, &made->phases);
    made->phases = watch.phases;
    made->info.peak_nbytes = peak_nbytes;
    *index = made;
    return KR_OK;
}

/* ---- Changes -------------------------------------------------------------------------------------- */

/* Keys of rows to insert (`is_inserted`) or delete. Blocks. */
static kr_column fold_rows(kr_work *w, const kr_composite *composite, const kr_column *columns,
                           int is_inserted)
{
    uint64_t misfits = 0, *counter = kr_work_counters(w, 1);
    kr_column keys = {.count = 0};
    here h;
    bring(w, columns, composite->n, &h);
    const kr_composite_rows rows = {.columns = h.columns,
                                    .n = composite->n,
                                    .last = KR_FOLD_ONLY,
                                    .is_fixed = (uint32_t)is_inserted,
                                    .misfits = is_inserted ? counter : NULL};
    if (kr_work_goes_on(w))
        keys = kr_composite_fold(w, composite, &rows, HELP);
    kr_work_read(w, &misfits, counter, sizeof misfits);
    kr_work_give(w, counter);
    release(w, &h);
    if (misfits)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_LIMIT,
                        "%llu of %llu rows have values that keys of this index have no room for, as they lie "
                        "beyond the columns that it was made of: create the index anew with these rows",
                        (unsigned long long)misfits, (unsigned long long)keys.count));
    return keys;
}

kr_status kr_index_update_columns_apply(kr_index *index, const kr_column *inserted, const kr_column *deleted,
                                        const kr_update *wanted, kr_stream *stream, kr_error *err)
{
    const kr_column none = {.type = index->info.type};
    kr_work w = kr_work_on(index->device, stream, err);
    kr_peak peak;
    kr_update job = *wanted;
    kr_work_peak_begin(&w, &peak);
    KR_STEP(&w, kr_index_await(index, w.stream, err));
    job.insert_keys = inserted ? fold_rows(&w, index->composite, inserted, 1) : none;
    job.delete_keys = deleted ? fold_rows(&w, index->composite, deleted, 0) : none;
    KR_STEP(&w, kr_index_update_apply(index, &job, w.stream, err));
    const uint64_t peak_nbytes = kr_work_peak_end(&w, &peak);
    if (kr_work_goes_on(&w))
        index->info.peak_nbytes =
            peak_nbytes > index->info.peak_nbytes ? peak_nbytes : index->info.peak_nbytes;
    return kr_work_end(&w);
}
