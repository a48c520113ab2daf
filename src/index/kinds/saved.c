/* Indexes in files: what the library knows of an index, in front of what its family keeps. */
#include "base/image/saved.h"
#include "base/image/pieces.h"
#include "index/kinds/index.h"
#include "index/results/row_ids.h"

#include <stdio.h>

/* LOAD: the type of keys must be known already. */
static void walk_columns(kr_image *image, kr_index *index)
{
    uint32_t type = (uint32_t)index->info.type;
    kr_image_u32(image, "key type", &type, type, type);
    kr_composite_image(image, index->composite);
    if (kr_image_loads(image) && index->composite->type != index->info.type)
        kr_image_refuse(image, "keys of its columns are %s, not %s", kr_type_name(index->composite->type),
                        kr_type_name(index->info.type));
}

/* What a file says of texts: there are none; keys are codes of a dictionary of the caller's; the texts
 * follow. */
enum { NO_TEXTS, CALLERS_TEXTS, OWN_TEXTS };

void kr_index_image_texts(kr_image *image, uint32_t type, uint64_t *dictionary, kr_type text_type,
                          struct kr_texts **texts)
{
    uint32_t what = text_type ? OWN_TEXTS : *dictionary ? CALLERS_TEXTS : NO_TEXTS;
    uint32_t saved_type = (uint32_t)text_type;
    kr_image_u32(image, "texts", &what, 0, type == KR_U32 ? OWN_TEXTS : NO_TEXTS);
    if (!text_type)
        return;
    kr_image_u32(image, "text type", &saved_type, KR_STRING, KR_BINARY_VIEW);
    const uint32_t scope = kr_image_enter(image, "dictionary");
    if (kr_work_goes_on(image->work))
        kr_index_texts_do.image(image, texts);
    kr_image_leave(image, scope);
    if (kr_image_loads(image))
        *dictionary = kr_index_texts_do.id(*texts);
}

/* LOAD: *rows becomes the number of rows, which the family's structure must have. */
static void walk(kr_image *image, kr_index *index, uint64_t *rows)
{
    uint32_t type = (uint32_t)index->info.type;
    const kr_image_of of = {.spec = &index->spec, .type = type};
    kr_saved_begin_walk(image, KR_SAVED_INDEX, index->info.spec);
    kr_image_u64(image, "rows", rows, 0, KR_NO_ROW - 1);
    kr_image_u64(image, "next row", &index->info.next_row, 0, KR_NO_ROW);
    kr_image_u64(image, "row limit", &index->row_limit, 0, index->info.next_row);
    kr_image_u32(image, "no key twice", &index->is_unique, 0, 1);
    if (index->composite)
        walk_columns(image, index);
    else {
        const uint32_t column = kr_image_enter_nth(image, "column", 0);
        kr_image_u32(image, "type", &type, type, type); /* that of `of` */
        kr_index_image_texts(image, type, &index->dictionary, index->text_type, &index->texts);
        kr_image_leave(image, column);
    }
    const uint32_t kind = kr_image_enter(image, "kind");
    if (kr_work_goes_on(image->work))
        index->ops->image(image, &of, &index->self);
    kr_image_leave(image, kind);
}

/* ---- Saving ----------------------------------------------------------------------------------- */

kr_status kr_index_make_pieces(const kr_index *index, const kr_save_options *options, kr_pieces **pieces,
                               kr_error *err)
{
    kr_work w = kr_work_on(index->device, NULL, err);
    kr_image image = kr_image_to_save(&w);
    uint64_t rows = index->info.rows;
    const kr_pieces_of of = {
        .device = index->device, .version = &index->version, .what = "index", .ready = index->ready};
    walk(&image, (kr_index *)index, &rows); /* which a walk that saves only reads */
    kr_saved_end_walk(&image, options);
    KR_STEP(&w, kr_pieces_make(&image, &of, pieces));
    kr_image_end(&image);
    return kr_work_end(&w);
}

/* ---- Loading ---------------------------------------------------------------------------------- */

/* A file in which the index is divided has parts, which other structures of kinds with option keep have not.
 */
static const kr_family_ops *find_ops(const kr_saved *saved, const kr_index *index)
{
    const kr_family *family = index->spec.kind->family;
    const int divided = family->keeps_on_host && family->keeps_on_host(&index->spec) &&
                        kr_saved_find(saved, KR_FIELD_NUMBER, "kind.", "parts");
    return divided ? &kr_divided_ops : kr_index_ops(index->device, &index->spec, index->info.type);
}

/* What the file says of the texts of column j; the walk fills the dictionary that is in the file. */
static void find_texts(kr_work *w, const kr_saved *saved, uint32_t j, uint32_t most, kr_type *text_type,
                       uint64_t *dictionary)
{
    uint64_t texts = 0, found = 0;
    char name[KR_FIELD_NAME_NBYTES];
    snprintf(name, sizeof name, "column %u.texts", j);
    KR_STEP(w, kr_saved_find_number(saved, name, 0, most, &texts, w->err));
    snprintf(name, sizeof name, "column %u.text type", j);
    if (texts == OWN_TEXTS)
        KR_STEP(w, kr_saved_find_number(saved, name, KR_STRING, KR_BINARY_VIEW, &found, w->err));
    KR_STEP(w, kr_saved_dictionary(saved, j, texts == CALLERS_TEXTS, dictionary, w->err));
    *text_type = (kr_type)found;
}

/* Of an index over several columns; the walk fills the rest. */
static void find_columns(kr_work *w, const kr_saved *saved, kr_index *index, uint64_t *type)
{
    uint64_t n = 0;
    index->composite = kr_work_object(w, sizeof *index->composite, "columns of an index");
    KR_STEP(w, kr_saved_find_number(saved, "key type", KR_U32, KR_U64, type, w->err));
    KR_STEP(w, kr_saved_find_number(saved, "columns", 1, KR_COMPOSITE_INDEXED, &n, w->err));
    for (uint32_t j = 0; j < n && kr_work_goes_on(w); ++j) {
        kr_composite_column *column = &index->composite->columns[j];
        find_texts(w, saved, j, OWN_TEXTS, &column->text_type, &column->dictionary);
    }
    if (kr_work_goes_on(w) && *type != KR_U32 && *type != KR_U64)
        KR_STEP(w, kr_fail(w->err, KR_ERR_FORMAT, "%s does not hold what it says: its keys are %s",
                           saved->name, kr_type_name((kr_type)*type)));
}

/* Of an index over one column. */
static void find_column(kr_work *w, const kr_saved *saved, kr_index *index, uint64_t *type)
{
    KR_STEP(w, kr_saved_find_number(saved, "column 0.type", KR_U8, KR_TIMESTAMP64, type, w->err));
    find_texts(w, saved, 0, *type == KR_U32 ? OWN_TEXTS : NO_TEXTS, &index->text_type, &index->dictionary);
}

/* What must be known before the walk: the structure's operations. */
static void find_kind(kr_work *w, const kr_saved *saved, kr_index *index)
{
    uint64_t type = 0;
    if (kr_saved_what_of(saved) == KR_SAVED_TABLE)
        KR_STEP(w, kr_fail(w->err, KR_ERR_FORMAT, "%s holds a table, not an index; use kr_table_load",
                           saved->name));
    KR_STEP(w, kr_spec_parse(kr_saved_spec_of(saved), &index->spec, w->err));
    if (kr_saved_find(saved, KR_FIELD_NUMBER, "", "columns"))
        find_columns(w, saved, index, &type);
    else
        find_column(w, saved, index, &type);
    if (kr_work_goes_on(w) && !index->spec.kind->family)
        KR_STEP(w, kr_fail(w->err, KR_ERR_FORMAT, "%s does not hold what it says: kind '%s' makes no index",
                           saved->name, index->spec.kind->name));
    if (!kr_work_goes_on(w))
        return;
    index->info.type = (kr_type)type;
    index->ops = find_ops(saved, index);
    KR_STEP(w, kr_spec_format(&index->spec, index->info.spec, sizeof index->info.spec, w->err));
    KR_STEP(w, kr_index_runs_on(index->ops, index->device, &index->spec, w->err));
}

/* Row ids are used as positions in columns of the caller's; searches do not ask that they are distinct. */
static void check_rows(kr_work *w, const kr_index *index, uint64_t rows)
{
    uint64_t *counters = kr_work_counters(w, KR_ROWS_COUNTERS);
    if (!kr_work_goes_on(w))
        return;
    const kr_rows held = index->ops->rows(index->self);
    const kr_rows_summary found = index->ops->kept ? index->ops->check_rows(w, index->self, 0)
                                                   : kr_row_ids_summarize(w, &held, counters);
    kr_work_give(w, counters);
    if (held.n_rows != rows || found.count != rows)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "there are %llu row ids, and %llu rows",
                           (unsigned long long)found.count, (unsigned long long)rows));
    if (found.end > index->row_limit)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "row id %llu is not below the limit",
                           (unsigned long long)found.end - 1));
}

/* What searches rely on. The structure is whole, whatever its arrays hold. */
static void verify(kr_work *w, const kr_index *index, uint64_t rows)
{
    const uint32_t mark = kr_work_mark(w);
    kr_index_check_family(w, index);
    kr_work_give_since(w, mark);
    check_rows(w, index, rows);
}

/* Invariants that do not hold, also where a family has to know them before it makes a scene, are the file's.
 */
static void blame_file(kr_image *image)
{
    kr_work *w = image->work;
    if (w->status != KR_ERR_INVARIANT)
        return;
    const kr_error cause = w->err ? *w->err : (kr_error){0};
    w->status = KR_OK;
    kr_image_refuse(image, "%s", cause.text);
}

static void load(kr_work *w, const kr_saved *saved, kr_index *index)
{
    uint64_t rows = 0;
    kr_image image = kr_image_to_load(w, &saved->source);
    walk(&image, index, &rows);
    kr_saved_end_walk(&image, NULL);
    kr_work_lap(w, "read");
    index->key_bits = kr_type_significant_bits(index->info.type); /* known better once all is checked */
    if (saved->verifies)
        verify(w, index, rows);
    blame_file(&image);
    kr_image_end(&image);
    kr_work_lap(w, "verify");
    if (saved->is_mapped && (w->device->ops->is_host || index->ops->kept))
        index->mapped = kr_saved_hold(saved);
    kr_work_give_since(w, 0);
    kr_index_record_ready(w, index);
}

kr_status kr_index_make_loaded(kr_device *device, const kr_saved *saved, kr_stream *stream, kr_index **index,
                               kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_stopwatch watch;
    kr_peak peak;
    kr_index *made = kr_work_object(&w, sizeof *made, "an index");
    if (!made)
        return kr_work_end(&w);
    made->device = device;
    kr_users_note(device, &made->users, stream);
    find_kind(&w, saved, made);
    kr_work_peak_begin(&w, &peak);
    kr_stopwatch_start(&watch, device, w.stream);
    w.watch = &watch;
    if (kr_work_goes_on(&w))
        load(&w, saved, made);
    kr_stopwatch_stop(&watch);
    const uint64_t peak_nbytes = kr_work_peak_end(&w, &peak);
    const kr_status status = kr_work_end(&w);
    if (status != KR_OK) {
        if (made->spec.kind)
            kr_index_name_keep(made, err);
        kr_index_release(made, stream);
        return status;
    }
    kr_index_fill_info(made, made->info.type, &watch, peak_nbytes);
    /* What is mapped was not taken. Entries in host memory are no device memory. */
    if (!made->ops->kept && made->info.peak_nbytes < made->info.footprint_nbytes)
        made->info.peak_nbytes = made->info.footprint_nbytes;
    *index = made;
    return KR_OK;
}

/* ---- Changing what is mapped ------------------------------------------------------------------ */

static void walk_to_own(kr_image *image, void *index)
{
    uint64_t rows = ((kr_index *)index)->info.rows;
    walk(image, index, &rows);
}

void kr_index_own(kr_work *w, kr_index *index)
{
    if (!index->mapped || !kr_work_goes_on(w))
        return;
    kr_image_own(w, walk_to_own, index);
    if (!kr_work_goes_on(w))
        return;
    ++index->version; /* recordings hold addresses of the mapping */
    kr_saved_release(index->mapped);
    index->mapped = NULL;
    kr_work_lap(w, "copy");
}
