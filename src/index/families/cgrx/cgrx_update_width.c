/* kr_index_update of kind `cgrx`, at one key width. The scene stays as it was built: every key goes to the
 * bucket that lookups find for it. Once there are far more or far fewer entries than at the build, the index
 * is built anew. */
#include "index/families/cgrx/cgrx_index.h"
#include "index/families/cgrx/cgrx_scene_params.h"
#include "index/sorted/merge.h"

KR_PROGRAM_DECLARE(cgrx_read_ends);
KR_PROGRAM_DECLARE(cgrx_fill_filter);

/* A very long list is as bad as too many entries in total. */
enum { LONGEST = 64 };

/* Reads the end keys, which lookups compare bounds with; `ends` has room for two numbers. */
static void read_ends(kr_work *w, uint64_t *ends, cgrx_index *index)
{
    const cgrx_ends_params params = {KR_W(cgrx_params_of)(index).entries, ends};
    uint64_t read[2] = {0, 0};
    if (index->n) {
        kr_work_run_whole(w, &KR_W(cgrx_read_ends), &params, 2);
        kr_work_read(w, read, ends, sizeof read);
    }
    index->lowest = read[0];
    index->highest = read[1];
}

static cgrx_bounds bounds_of(const cgrx_index *index)
{
    const double ratio = index->design.rebuild, built = (double)index->built;
    return (cgrx_bounds){built / ratio, built * ratio, LONGEST * ratio * index->design.bucket};
}

/* All entries with the batch merged into them; the lists stay as they are. */
static kr_sorted merge_all(kr_work *w, const kr_changes *c, const cgrx_index *index)
{
    const kr_sorted flat = KR_W(cgrx_nodes_flatten)(w, &index->storage, &index->nodes);
    const kr_entries old =
        kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), flat.keys.data, flat.rows.data, flat.n);
    const kr_sorted merged = KR_W(kr_sorted_merge)(w, c, &old);
    kr_sorted_give(w, &flat);
    return merged;
}

/* Applies the batch by building all anew: scene and filter beside the old ones, then the lists over the old
 * lists' memory, which cannot be cancelled. On failure the index is as it was. */
static void rebuild(kr_work *w, const kr_changes *c, cgrx_index *index)
{
    const kr_sorted merged = merge_all(w, c, index);
    const cgrx_source source = {&index->design, &merged};
    const cgrx_nodes_source lists = {&index->design, &merged};
    cgrx_scene scene = KR_W(cgrx_scene_build)(w, &source);
    const kr_buffer filter = KR_W(cgrx_filter_make)(w, &index->design, &merged);
    KR_W(cgrx_nodes_rebuild)(w, &lists, &index->storage, &index->nodes);
    cgrx_scene_keep(w, &scene);
    if (kr_work_goes_on(w)) {
        cgrx_scene_release(w->device, w->stream, &index->scene);
        kr_buffer_release(w->device, &index->filter, w->stream);
        index->scene = scene;
        index->filter = kr_work_keep(w, filter.data);
        index->n = index->built = merged.n;
        index->lowest = merged.lowest;
        index->highest = merged.highest;
    }
    kr_work_lap(w, "rebuild");
}

/* Changes the lists in place, unless all should be built anew. Everything that may fail comes before the
 * lists change. */
static void change_lists(kr_work *w, const kr_changes *c, const cgrx_bounds *within, cgrx_index *index,
                         int *is_beyond)
{
    const cgrx_batch batch = {&c->deletes, &c->inserts, 0, within};
    const cgrx_filter_params filter = {c->inserts.keys.data, index->filter.data,
                                       index->filter.nbytes / sizeof(uint64_t)};
    uint64_t *ends = kr_work_counters(w, 2);
    KR_W(cgrx_nodes_update)(w, &batch, &index->storage, &index->nodes, is_beyond);
    if (kr_work_goes_on(w) && !(is_beyond && *is_beyond)) {
        index->n = index->nodes.n_rows;
        if (index->filter.data)
            kr_work_run_whole(w, &KR_W(cgrx_fill_filter), &filter, c->inserts.n);
        read_ends(w, ends, index);
    }
    kr_work_give(w, ends);
}

/* Without enough memory to build all anew, the batch goes to the lists, and the next one tries again: no
 * answer depends on it. */
static void apply(kr_work *w, const kr_changes *c, cgrx_index *index)
{
    const cgrx_bounds bounds = bounds_of(index);
    kr_error why = {0};
    int is_beyond = 0;
    change_lists(w, c, index->design.rebuild > 0 ? &bounds : NULL, index, &is_beyond);
    if (!kr_work_goes_on(w) || !is_beyond)
        return;
    kr_work anew = kr_work_beside(w, &why);
    rebuild(&anew, c, index);
    const kr_status status = kr_work_end(&anew);
    if (status == KR_ERR_DEVICE_MEMORY || status == KR_ERR_HOST_MEMORY || status == KR_ERR_LIMIT) {
        change_lists(w, c, NULL, index, NULL);
    } else if (status != KR_OK) {
        w->status = status;
        if (w->err)
            *w->err = why;
    }
}

void KR_W(cgrx_update)(kr_work *w, void *self, const kr_update *job)
{
    cgrx_index *index = self;
    if (!index->design.node)
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "kind 'cgrx': this index was made with updates=off and does not change; create it "
                           "with updates=on"));
    if (!kr_work_goes_on(w))
        return;
    kr_changes c = kr_changes_make(w, job, NULL);
    if (index->nodes.n_lists) {
        if (c.deletes.n || c.inserts.n)
            apply(w, &c, index);
    } else if (c.inserts.n) { /* nothing was ever in it */
        kr_sorted_read_ends(w, KR_KEY_BITS, &c.inserts);
        KR_W(cgrx_construct)(w, &c.inserts, index);
    }
    kr_work_sync(w);
}
