/* kr_index_update of kind `cgrx`, at one key width. The scene stays as it was built: every key goes to the
 * bucket that lookups find for it. Once there are far more or far fewer entries than at the build, the index
 * is built anew. */
#include "indexes/cgrx/cgrx_index.h"
#include "indexes/cgrx/cgrx_scene_params.h"
#include "sorted/merge.h"

KR_PROGRAM_DECLARE(cgrx_read_ends);
KR_PROGRAM_DECLARE(cgrx_fill_filter);

/* A very long list is as bad as too many entries in total. */
enum { LONGEST = 64 };

/* Reads the end keys, which lookups compare bounds with; `ends` has room for two numbers. */
static kr_status read_ends(kr_device *device, kr_stream *stream, const kr_buffer *ends, cgrx_index *index,
                           kr_error *err)
{
    const cgrx_ends_params params = {KR_W(cgrx_params_of)(index).entries, ends->data};
    uint64_t read[2] = {0, 0};
    kr_status status = KR_OK;
    if (index->n)
        status = kr_device_run_whole(device, &KR_W(cgrx_read_ends), &params, 2, stream, err);
    if (status == KR_OK && index->n)
        status = kr_counters_read(device, stream, ends, read, 2, err);
    index->lowest = read[0];
    index->highest = read[1];
    return status;
}

static cgrx_bounds bounds_of(const cgrx_index *index)
{
    const double ratio = index->design.rebuild, built = (double)index->built;
    return (cgrx_bounds){built / ratio, built * ratio, LONGEST * ratio * index->design.bucket};
}

/* All entries with the batch merged into them; the lists stay as they are. */
static kr_status merge_all(kr_device *device, const kr_update *job, const kr_changes *c,
                           const cgrx_index *index, kr_sorted *merged, kr_error *err)
{
    kr_sorted flat = {0};
    kr_status status =
        KR_W(cgrx_nodes_flatten)(device, job->stream, &index->storage, &index->nodes, &flat, err);
    const kr_entries old =
        kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), flat.keys.data, flat.rows.data, flat.n);
    if (status == KR_OK)
        status = KR_W(kr_sorted_merge)(device, job->stream, job->watch, c, &old, merged, err);
    kr_sorted_release(device, &flat, job->stream);
    return status;
}

/* Applies the batch by building all anew: scene and filter beside the old ones, then the lists over the old
 * lists' memory, which cannot be cancelled. On failure the index is as it was. */
static kr_status rebuild(kr_device *device, const kr_update *job, const kr_changes *c, cgrx_index *index,
                         kr_error *err)
{
    kr_sorted merged = {0};
    cgrx_index made = {.design = index->design};
    kr_status status = merge_all(device, job, c, index, &merged, err);
    const cgrx_source source = {device, job->stream, job->watch, &index->design, &merged};
    const cgrx_nodes_source lists = {device, job->stream, job->watch, &index->design, &merged};
    if (status == KR_OK)
        status = KR_W(cgrx_scene_build)(&source, &made.scene, err);
    if (status == KR_OK)
        status = KR_W(cgrx_filter_make)(device, job->stream, &index->design, &merged, &made.filter, err);
    if (status == KR_OK)
        status = KR_W(cgrx_nodes_rebuild)(&lists, &index->storage, &index->nodes, err);
    if (status == KR_OK) {
        const cgrx_index old = *index;
        index->scene = made.scene;
        index->filter = made.filter;
        index->n = index->built = merged.n;
        index->lowest = merged.lowest;
        index->highest = merged.highest;
        made = (cgrx_index){.scene = old.scene, .filter = old.filter};
    }
    cgrx_scene_release(device, job->stream, &made.scene);
    kr_buffer_release(device, &made.filter, job->stream);
    kr_sorted_release(device, &merged, job->stream);
    kr_stopwatch_lap(job->watch, "rebuild");
    return status;
}

/* Changes the lists in place, unless all should be built anew. Everything that may fail comes before the
 * lists change. */
static kr_status change_lists(kr_device *device, const kr_update *job, const kr_changes *c,
                              const cgrx_bounds *within, cgrx_index *index, int *is_beyond, kr_error *err)
{
    const cgrx_batch batch = {&c->deletes, &c->inserts, 0, within};
    const cgrx_filter_params filter = {c->inserts.keys.data, index->filter.data,
                                       index->filter.nbytes / sizeof(uint64_t)};
    kr_buffer ends = {0};
    kr_status status = kr_counters_make(device, job->stream, 2, &ends, err);
    if (status == KR_OK)
        status = KR_W(cgrx_nodes_update)(device, job->stream, job->watch, &batch, &index->storage,
                                         &index->nodes, is_beyond, err);
    if (status == KR_OK && !(is_beyond && *is_beyond)) {
        index->n = index->nodes.n_rows;
        if (index->filter.data && c->inserts.n)
            status =
                kr_device_run_whole(device, &KR_W(cgrx_fill_filter), &filter, c->inserts.n, job->stream, err);
        if (status == KR_OK)
            status = read_ends(device, job->stream, &ends, index, err);
    }
    kr_buffer_release(device, &ends, job->stream);
    return status;
}

/* Without enough memory to build all anew, the batch goes to the lists, and the next one tries again: no
 * answer depends on it. */
static kr_status apply(kr_device *device, const kr_update *job, const kr_changes *c, cgrx_index *index,
                       kr_error *err)
{
    const cgrx_bounds bounds = bounds_of(index);
    kr_error why = {0};
    int is_beyond = 0;
    kr_status status = index->design.rebuild > 0
                           ? change_lists(device, job, c, &bounds, index, &is_beyond, err)
                           : change_lists(device, job, c, NULL, index, NULL, err);
    if (status != KR_OK || !is_beyond)
        return status;
    status = rebuild(device, job, c, index, &why);
    if (status == KR_ERR_DEVICE_MEMORY || status == KR_ERR_HOST_MEMORY || status == KR_ERR_LIMIT)
        return change_lists(device, job, c, NULL, index, NULL, err);
    if (status != KR_OK && err)
        *err = why;
    return status;
}

kr_status KR_W(cgrx_update)(kr_device *device, void *self, const kr_update *job, kr_error *err)
{
    cgrx_index *index = self;
    kr_changes c = {.deletes = {.n = 0}};
    if (!index->design.node)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "kind 'cgrx': this index was made with updates=off and does not change; create it with "
            "updates=on");
    kr_status status = kr_changes_make(device, job, NULL, &c, err);
    if (status == KR_OK && (c.deletes.n || c.inserts.n)) {
        if (index->nodes.n_lists)
            status = apply(device, job, &c, index, err);
        else if (c.inserts.n) { /* nothing was ever in it */
            status = kr_sorted_read_ends(device, job->stream, KR_KEY_BITS, &c.inserts, err);
            if (status == KR_OK)
                status = KR_W(cgrx_construct)(device, job->stream, job->watch, &c.inserts, index, err);
        }
    }
    kr_changes_release(device, job->stream, &c);
    return status == KR_OK ? kr_device_sync(device, job->stream, err) : status;
}
