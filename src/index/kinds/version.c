/* Versions: an index as an update would leave it, beside the older one. */
#include "base/image/saved.h"
#include "index/kinds/index.h"

/* ---- Copies of structures --------------------------------------------------------------------- */

static void walk(kr_image *image, void **self, void *ctx)
{
    const kr_index *index = ctx;
    const kr_image_of of = {.spec = &index->spec, .type = (uint32_t)index->info.type};
    index->ops->image(image, &of, self);
}

void kr_index_version_copy(kr_work *w, kr_index *index)
{
    void *made = NULL;
    if (!index->is_lent || !kr_work_goes_on(w))
        return;
    kr_image_copy(w, walk, index, &index->self, &made);
    if (!made)
        return;
    index->self = made;
    index->is_lent = 0;
    kr_work_lap(w, "copy");
}

/* ---- Composites ------------------------------------------------------------------------------- */

/* What keys of several columns are made by never changes, so versions share it. */
static void share_composite(kr_work *w, const kr_index *index, kr_index *made)
{
    kr_composite *to = kr_work_object(w, sizeof *to, "columns of an index");
    if (!to)
        return;
    made->composite = to;
    KR_STEP(w, kr_composite_share(index->composite, to, w->err));
    /* Lists may lie in a mapped file. */
    if (index->mapped && kr_work_goes_on(w))
        made->mapped = kr_saved_hold(index->mapped);
}

/* ---- A version -------------------------------------------------------------------------------- */

static kr_index *lend(kr_work *w, const kr_index *index)
{
    kr_index *made = kr_work_object(w, sizeof *made, "an index");
    if (!made)
        return NULL;
    made->device = index->device;
    made->ops = index->ops;
    made->spec = index->spec;
    made->self = index->self;
    made->is_lent = 1;
    made->row_limit = index->row_limit;
    made->dictionary = index->dictionary;
    made->key_bits = index->key_bits;
    made->is_unique = index->is_unique;
    made->text_type = index->text_type;
    made->info = index->info;
    if (index->texts)
        made->texts = kr_index_texts_do.share(index->texts);
    if (index->composite)
        share_composite(w, index, made);
    return made;
}

void kr_index_version_begin(const kr_index *index, kr_stream *stream, kr_index_version *version,
                            kr_error *err)
{
    version->work = kr_work_on(index->device, stream, err);
    kr_work_peak_begin(&version->work, &version->peak);
    KR_STEP(&version->work, kr_index_await(index, version->work.stream, err));
    version->made = kr_work_goes_on(&version->work) ? lend(&version->work, index) : NULL;
}

/* An update that changes nothing has left the structure of the older version. */
static void finish(kr_work *w, kr_index *made)
{
    kr_stopwatch watch;
    if (!made->is_lent || !kr_work_goes_on(w))
        return;
    kr_stopwatch_start(&watch, made->device, w->stream);
    w->watch = &watch;
    kr_index_version_copy(w, made);
    kr_work_sync(w);
    kr_index_record_ready(w, made);
    kr_stopwatch_stop(kr_work_unwatch(w));
    if (kr_work_goes_on(w))
        kr_index_fill_info(made, made->info.type, &watch, 0);
}

kr_status kr_index_version_end(kr_index_version *version, kr_index **next)
{
    kr_work *w = &version->work;
    kr_index *made = version->made;
    if (made)
        finish(w, made);
    const uint64_t peak_nbytes = kr_work_peak_end(w, &version->peak);
    const kr_status status = kr_work_end(w);
    if (status != KR_OK) {
        kr_index_release(made, w->stream);
        return status;
    }
    made->info.peak_nbytes = peak_nbytes;
    *next = made;
    return KR_OK;
}
