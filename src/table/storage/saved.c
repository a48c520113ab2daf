#include "table/storage/saved.h"
#include "base/image/pieces.h"
#include "base/image/saved.h"
#include "table/storage/texts.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Columns --------------------------------------------------------------------------------- */

/* Conditions name columns, so each has a name of its own. */
static kr_status check_name(const kr_table *table, uint32_t c, kr_error *err)
{
    const char *const *names = (const char *const *)table->names;
    if (!names[c][0])
        return kr_fail(err, KR_ERR_FORMAT, "the file does not hold what it says: column %u has no name", c);
    const uint32_t first = kr_table_first_named(names, c);
    if (first != c)
        return kr_fail(err, KR_ERR_FORMAT,
                       "the file does not hold what it says: columns %u and %u are both named '%s'", first, c,
                       names[c]);
    return KR_OK;
}

/* What a file says of texts: there are none; codes of a dictionary of the caller's; the texts follow; those
 * of an earlier column. */
enum { NO_TEXTS, CALLERS_TEXTS, TEXTS, TEXTS_OF_COLUMN };

/* The first column that has the dictionary of column c. */
static uint32_t first_with_texts(const kr_table *table, uint32_t c)
{
    uint32_t first = 0;
    while (table->dictionary_of[first] != table->dictionary_of[c])
        ++first;
    return first;
}

static uint32_t texts_of(const kr_table *table, uint32_t c)
{
    if (!table->dictionary_of[c])
        return table->columns[c].dictionary ? CALLERS_TEXTS : NO_TEXTS;
    return first_with_texts(table, c) == c ? TEXTS : TEXTS_OF_COLUMN;
}

/* LOAD: a dictionary of the table's own. */
static void image_dictionary(kr_image *image, kr_table *table, uint32_t c)
{
    const uint32_t entered = kr_image_enter(image, "dictionary");
    kr_texts *texts =
        image->task == KR_IMAGE_SAVE ? (kr_texts *)kr_table_dictionary_of(table, c)->texts : NULL;
    kr_texts_image(image, &texts);
    if (image->task == KR_IMAGE_LOAD && texts)
        kr_table_add_texts(table, c, texts, 0);
    kr_image_leave(image, entered);
}

static void image_texts(kr_image *image, kr_table *table, uint32_t c, const kr_table_load_job *job,
                        uint32_t type)
{
    kr_column *column = table->columns + c;
    uint32_t kind = image->task == KR_IMAGE_SAVE ? texts_of(table, c) : NO_TEXTS, of = 0;
    kr_image_u32(image, "texts", &kind, NO_TEXTS, type == KR_U32 ? TEXTS_OF_COLUMN : NO_TEXTS);
    if (!kr_work_goes_on(image->work) || image->task == KR_IMAGE_OWN)
        return;
    if (kind == TEXTS_OF_COLUMN && image->task == KR_IMAGE_SAVE)
        of = first_with_texts(table, c);
    if (kind == TEXTS)
        image_dictionary(image, table, c);
    if (kind == TEXTS_OF_COLUMN)
        kr_image_u32(image, "texts of column", &of, 0, c ? c - 1 : 0);
    if (!kr_image_loads(image))
        return;
    KR_STEP(image->work,
            kr_saved_dictionary(job->saved, c, kind == CALLERS_TEXTS, &column->dictionary, image->work->err));
    if (kind == TEXTS_OF_COLUMN && (of >= c || !kr_table_dictionary_of(table, of)))
        kr_image_refuse(image, "column %u has the texts of column %u, which has none", c, of);
    else if (kind == TEXTS_OF_COLUMN)
        kr_table_add_texts(table, c, kr_table_dictionary_of(table, of)->texts, 0);
    if (kr_image_loads(image) && kind >= TEXTS)
        column->dictionary = kr_table_dictionary_of(table, c)->texts->id;
}

/* All but the arrays; returns whether there is validity. */
static uint32_t image_facts(kr_image *image, kr_table *table, uint32_t c, const kr_table_load_job *job)
{
    kr_column *column = table->columns + c;
    uint32_t type = (uint32_t)column->type, unit = KR_UNIT_NONE;
    uint32_t has_validity = column->validity && column->count;
    uint64_t offset = has_validity ? column->validity_offset : 0;
    if (image->task == KR_IMAGE_SAVE && type == KR_TIMESTAMP64)
        unit = table->units ? (uint32_t)table->units[c] : KR_UNIT_US;
    kr_image_text(image, "name", table->names + c);
    kr_image_u32(image, "type", &type, KR_U8, KR_TIMESTAMP64);
    kr_image_u32(image, "unit", &unit, KR_UNIT_NONE, KR_UNIT_NS);
    image_texts(image, table, c, job, type);
    kr_image_u32(image, "has validity", &has_validity, 0, table->n_rows != 0);
    kr_image_u64(image, "validity offset", &offset, 0, has_validity ? 7 : 0);
    if (!kr_image_loads(image))
        return has_validity;
    KR_STEP(image->work, check_name(table, c, image->work->err));
    *column = (kr_column){.type = (kr_type)type,
                          .count = table->n_rows,
                          .validity_offset = offset,
                          .dictionary = column->dictionary};
    table->units[c] = (kr_unit)unit;
    return has_validity;
}

/* A column that is referenced is saved like one that is copied; spare room is not saved. */
static void image_array(kr_image *image, const char *name, kr_buffer *buffer, const void *data,
                        uint64_t nbytes)
{
    kr_buffer seen = {.data = (void *)data, .nbytes = nbytes};
    kr_image_buffer(image, name, image->task == KR_IMAGE_SAVE ? &seen : buffer, nbytes);
}

static void image_column(kr_image *image, kr_table *table, uint32_t c, const kr_table_load_job *job)
{
    kr_column *column = table->columns + c;
    kr_resident *resident = table->residents + c;
    const uint32_t has_validity = image_facts(image, table, c, job);
    if (!kr_work_goes_on(image->work))
        return;
    image_array(image, "data", &resident->data, column->data, table->n_rows * kr_type_nbytes(column->type));
    if (has_validity)
        image_array(image, "validity", &resident->validity, column->validity,
                    kr_column_validity_nbytes(column));
    if (!kr_image_binds(image))
        return;
    column->data = resident->data.data;
    column->validity = resident->validity.data;
    resident->column = *column;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void image_alive(kr_image *image, kr_table *table)
{
    const uint64_t n = table->n_rows;
    if (kr_image_has(image, "has alive", &table->alive)) {
        kr_image_u64(image, "alive rows", &table->n_alive, 0, n);
        kr_image_buffer_used(image, "alive", &table->alive, kr_scans_bitmap_words(n) * sizeof(uint32_t));
    } else if (kr_image_loads(image)) {
        table->n_alive = n;
    }
}

static void take_arrays(kr_work *work, kr_table *table)
{
    const uint32_t n = table->n_columns;
    table->residents = kr_work_array(work, n, sizeof *table->residents, "a table");
    table->columns = kr_work_array(work, n, sizeof *table->columns, "a table");
    table->names = kr_work_array(work, n, sizeof *table->names, "a table");
    table->units = kr_work_array(work, n, sizeof *table->units, "a table");
    table->dictionaries = kr_work_array(work, n, sizeof *table->dictionaries, "a table");
    table->dictionary_of = kr_work_array(work, n, sizeof *table->dictionary_of, "a table");
}

/* `job`: of a walk that loads. */
static void walk(kr_image *image, kr_table *table, const kr_table_load_job *job)
{
    const uint64_t left = kr_image_left(image);
    uint32_t entered;
    kr_saved_begin_walk(image, KR_SAVED_TABLE, table->info.spec);
    kr_image_u64(image, "rows", &table->n_rows, 0, KR_NO_ROW - 1);
    kr_image_u32(image, "columns", &table->n_columns, 1, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX);
    if (kr_image_loads(image))
        take_arrays(image->work, table);
    for (uint32_t c = 0; c < table->n_columns && kr_work_goes_on(image->work); ++c) {
        entered = kr_image_enter_nth(image, "column", c);
        image_column(image, table, c, job);
        kr_image_leave(image, entered);
    }
    image_alive(image, table);
    const kr_table_build build = kr_table_build_of(table, table->columns, table->n_rows);
    entered = kr_image_enter(image, "kind");
    if (kr_work_goes_on(image->work))
        table->ops->image(image, &build, &table->self);
    kr_image_leave(image, entered);
}

/* ---- Saving ---------------------------------------------------------------------------------- */

kr_status kr_table_make_pieces(const kr_table *table, const kr_save_options *options, kr_pieces **pieces,
                               kr_error *err)
{
    kr_work work = kr_work_on(table->device, NULL, err);
    kr_image image = kr_image_to_save(&work);
    const kr_pieces_of of = {.device = table->device, .version = &table->version, .what = "table"};
    walk(&image, (kr_table *)table, NULL); /* which a walk that saves only reads */
    kr_saved_end_walk(&image, options);
    KR_STEP(&work, kr_pieces_make(&image, &of, pieces));
    kr_image_end(&image);
    return kr_work_end(&work);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static int is_borrowed(const kr_table_load_job *job)
{
    return job->saved->is_mapped && job->device->ops->is_host;
}

static kr_status check_copy(const kr_table_load_job *job, kr_error *err)
{
    if (job->options.copy != KR_COPY_NEVER || is_borrowed(job))
        return KR_OK;
    return kr_fail(err, KR_ERR_ARGUMENT,
                   "KR_COPY_NEVER: a table of a file is a copy unless a CPU maps the file; %s",
                   job->device->ops->is_host ? "open the file by its path" : "ask for KR_COPY_AUTO");
}

/* What must be known before the walk. */
static void find_kind(kr_work *work, const kr_table_load_job *job, kr_table *table)
{
    const kr_saved *saved = job->saved;
    if (kr_saved_what_of(saved) == KR_SAVED_INDEX)
        KR_STEP(work, kr_fail(work->err, KR_ERR_FORMAT, "%s holds an index, not a table; use kr_index_load",
                              saved->name));
    KR_STEP(work, kr_spec_parse(kr_saved_spec_of(saved), &table->spec, work->err));
    if (kr_work_goes_on(work) && !table->spec.kind->scan)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_FORMAT, "%s does not hold what it says: kind '%s' scans no table",
                        saved->name, table->spec.kind->name));
    if (!kr_work_goes_on(work))
        return;
    table->ops = kr_table_ops(&table->spec);
    KR_STEP(work, kr_spec_format(&table->spec, table->info.spec, sizeof table->info.spec, work->err));
    KR_STEP(work, kr_table_runs_on(table->ops, job->device, &table->spec, work->err));
    KR_STEP(work, check_copy(job, work->err));
}

/* On failure NULL, or what kr_table_destroy destroys. */
static kr_table *begin(kr_work *work, const kr_table_load_job *job)
{
    kr_table *made = kr_work_object(work, sizeof *made, "a table");
    if (!made)
        return NULL;
    made->device = job->device;
    kr_users_note(made->device, &made->users, work->stream);
    made->options = job->options;
    snprintf(made->info.reason, sizeof made->info.reason, "saved with this spec");
    find_kind(work, job, made);
    return made;
}

/* What scans rely on; the file is what is wrong. */
static void verify(kr_image *image, const kr_table *table)
{
    kr_error cause = {0};
    kr_work work = kr_work_beside(image->work, &cause);
    if (!kr_work_goes_on(image->work))
        return;
    kr_table_check(&work, table);
    if (kr_work_end(&work) == KR_ERR_INVARIANT)
        kr_image_refuse(image, "%s", cause.text);
    else if (work.status != KR_OK && image->work->err)
        *image->work->err = cause;
    KR_STEP(image->work, work.status);
}

static void load(kr_work *work, const kr_table_load_job *job, kr_table *table)
{
    kr_image image = kr_image_to_load(work, &job->saved->source);
    walk(&image, table, job);
    kr_saved_end_walk(&image, NULL);
    kr_work_lap(work, "read");
    if (job->saved->verifies)
        verify(&image, table);
    kr_image_end(&image);
    kr_work_lap(work, "verify");
    if (is_borrowed(job))
        table->saved = kr_saved_hold(job->saved);
    if (job->options.copy == KR_COPY_ALWAYS)
        kr_table_own(work, table);
}

void kr_table_make_loaded(kr_work *work, const kr_table_load_job *job, kr_table **table)
{
    kr_stopwatch watch;
    kr_peak peak;
    kr_table *made = begin(work, job);
    kr_work_peak_begin(work, &peak);
    kr_stopwatch_start(&watch, job->device, work->stream);
    work->watch = &watch;
    if (kr_work_goes_on(work))
        load(work, job, made);
    kr_stopwatch_stop(kr_work_unwatch(work));
    const uint64_t taken = kr_work_peak_end(work, &peak);
    const uint64_t held = kr_work_goes_on(work) ? kr_table_nbytes(made) : 0; /* mapped bytes, too */
    if (kr_work_goes_on(work))
        kr_table_finish(work, made, &watch, held > taken ? held : taken);
    if (kr_work_goes_on(work)) {
        *table = made;
        return;
    }
    kr_work_finish(work);
    kr_table_destroy(made);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void walk_to_own(kr_image *image, void *table)
{
    walk(image, table, NULL);
}

void kr_table_own(kr_work *work, kr_table *table)
{
    if (!table->saved || !kr_work_goes_on(work))
        return;
    kr_users_take(table->device, &table->users, work->stream);
    kr_table_version_part(work, table); /* other versions read what is borrowed */
    kr_image_own(work, walk_to_own, table);
    if (!kr_work_goes_on(work))
        return;
    ++table->version; /* recordings hold addresses of the mapping */
    kr_saved_release(table->saved);
    table->saved = NULL;
    kr_work_lap(work, "copy");
}
