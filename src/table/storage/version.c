/* Versions: a table beside an older one. At first it shares all that the older one holds; a change of either
 * then gives it what it writes (table/change). */
#include "base/image/saved.h"
#include "table/storage/saved.h"
#include "table/storage/texts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sharing ---------------------------------------------------------------------------------- */

static void share_columns(kr_work *work, const kr_table *table, kr_table *made)
{
    for (uint32_t c = 0; c < table->n_columns && kr_work_goes_on(work); ++c) {
        kr_resident *from = table->residents + c, *to = made->residents + c;
        const uint64_t used = table->n_rows * kr_type_nbytes(table->columns[c].type);
        KR_STEP(work, kr_buffer_share(&from->data, used, &to->data, work->err));
        KR_STEP(work, kr_buffer_share(&from->validity, from->validity.nbytes, &to->validity, work->err));
        to->column = made->columns[c] = table->columns[c];
    }
    KR_STEP(work, kr_buffer_share((kr_buffer *)&table->alive, table->alive.nbytes, &made->alive, work->err));
}

static void share_dictionaries(const kr_table *table, kr_table *made)
{
    for (uint32_t d = 0; d < table->n_dictionaries; ++d) {
        made->dictionaries[d] = table->dictionaries[d];
        if (!table->dictionaries[d].is_shared)
            made->dictionaries[d].texts = kr_texts_share(table->dictionaries[d].texts);
    }
    made->n_dictionaries = table->n_dictionaries;
    memcpy(made->dictionary_of, table->dictionary_of, table->n_columns * sizeof *made->dictionary_of);
}

/* What the kind built, and names, which it may point to. */
static void share_structure(kr_work *work, kr_table *table, kr_table *made)
{
    KR_STEP(work, kr_holders_join(&table->names_holders, work->err));
    if (kr_work_goes_on(work)) {
        made->names = table->names;
        made->names_holders = table->names_holders;
    }
    KR_STEP(work, kr_holders_join(&table->self_holders, work->err));
    if (kr_work_goes_on(work)) {
        made->self = table->self;
        made->self_holders = table->self_holders;
    }
    if (table->saved && kr_work_goes_on(work))
        made->saved = kr_saved_hold(table->saved);
}

/* Numbers, and arrays of a version's own. */
static void copy_facts(kr_work *work, const kr_table *table, kr_table *made)
{
    const uint32_t n = table->n_columns;
    made->device = table->device;
    kr_users_note(made->device, &made->users, work->stream);
    made->ops = table->ops;
    made->spec = table->spec;
    made->n_rows = table->n_rows;
    made->n_alive = table->n_alive;
    made->n_columns = n;
    made->room = table->room;
    made->options = table->options;
    made->phases = table->phases;
    made->info = table->info;
    made->residents = kr_work_array(work, n, sizeof *made->residents, "a version");
    made->columns = kr_work_array(work, n, sizeof *made->columns, "a version");
    made->dictionaries = kr_work_array(work, n, sizeof *made->dictionaries, "a version");
    made->dictionary_of = kr_work_array(work, n, sizeof *made->dictionary_of, "a version");
    if (table->units)
        made->units = kr_work_array(work, n, sizeof *made->units, "a version");
    if (made->units)
        memcpy(made->units, table->units, n * sizeof *made->units);
}

kr_table *kr_table_version_make(kr_work *work, const kr_table *table)
{
    kr_table *made = kr_work_object(work, sizeof *made, "a version");
    if (!made)
        return NULL;
    copy_facts(work, table, made);
    if (kr_work_goes_on(work)) {
        share_dictionaries(table, made);
        share_columns(work, table, made);
    }
    share_structure(work, (kr_table *)table, made); /* which has one holder more */
    if (kr_work_goes_on(work))
        return made;
    kr_table_destroy(made);
    return NULL;
}

/* ---- Leaving ---------------------------------------------------------------------------------- */

void kr_table_version_leave(kr_table *table, kr_stream *stream)
{
    void *left = table->self;
    table->self = NULL;
    if (left && kr_holders_leave(&table->self_holders))
        table->ops->destroy(table->device, left, stream);
}

void kr_table_version_leave_names(kr_table *table)
{
    if (!kr_holders_leave(&table->names_holders) || !table->names)
        return;
    for (uint32_t c = 0; c < table->n_columns; ++c)
        free(table->names[c]);
    free(table->names);
}

/* ---- A structure of its own ------------------------------------------------------------------- */

static void walk(kr_image *image, void **self, void *ctx)
{
    const kr_table *table = ctx;
    const kr_table_build build = kr_table_build_of(table, table->columns, table->n_rows);
    table->ops->image(image, &build, self);
}

void kr_table_version_part(kr_work *work, kr_table *table)
{
    void *made = NULL;
    if (!kr_holders_are_many(table->self_holders) || !kr_work_goes_on(work))
        return;
    kr_image_copy(work, walk, table, &table->self, &made);
    if (kr_work_goes_on(work)) {
        kr_table_version_leave(table, work->stream);
        table->self = made;
        kr_work_lap(work, "copy");
    } else if (made)
        table->ops->destroy(table->device, made, work->stream);
}
