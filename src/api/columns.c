/* Calls for indexes over several columns: kr_index_create_columns, kr_index_update_columns, and what lookups
 * by columns check and do before they are lookups like any other. */
#include "index/texts/columns.h"
#include "api/call.h"
#include "base/util/structs.h"
#include "index/kinds/choose.h"

#include <stdio.h>

/* ---- Checks ---------------------------------------------------------------------------------------- */

/* Of numbers or of texts, whose codes will be in device memory. */
static kr_status check_column(kr_device *device, const kr_column *column, const char *what, int *reaches,
                              kr_error *err)
{
    return kr_strings_are(column->type) ? kr_strings_check(device, column, what, NULL, err)
                                        : kr_column_check(device, column, what, reaches, err);
}

/* Columns of one length. */
static kr_status check_lengths(kr_device *device, const kr_column *columns, uint32_t n, const char *what,
                               int *reaches, kr_error *err)
{
    kr_status status =
        columns ? KR_OK : kr_fail(err, KR_ERR_ARGUMENT, "%s are NULL: give %u columns", what, n);
    for (uint32_t j = 0; j < n && status == KR_OK; ++j) {
        status = check_column(device, &columns[j], what, reaches, err);
        if (status == KR_OK && columns[j].count != columns[0].count)
            status =
                kr_fail(err, KR_ERR_ARGUMENT, "column %u of %s has %llu rows, but column 0 has %llu", j, what,
                        (unsigned long long)columns[j].count, (unsigned long long)columns[0].count);
    }
    return status;
}

/* The type and the texts of column j of the index. */
static kr_status check_type(const kr_index *index, const kr_column *column, uint32_t j, const char *what,
                            kr_error *err)
{
    const kr_composite_column *of = &index->composite->columns[j];
    char here[48], there[48];
    snprintf(here, sizeof here, "column %u of %s", j, what);
    snprintf(there, sizeof there, "column %u of the index", j);
    if (of->texts && kr_strings_are(column->type))
        return KR_OK;
    if (column->type != (kr_type)of->type || (of->texts && !column->dictionary))
        return kr_fail(err, KR_ERR_TYPE, "%s is %s, but %s is %s: %s", here, kr_type_name(column->type),
                       there, kr_type_name(of->texts ? of->text_type : (kr_type)of->type),
                       of->texts                      ? "give texts"
                       : kr_strings_are(column->type) ? "give codes of its dictionary (kr_texts_encode)"
                                                      : "convert one to the type of the other");
    return kr_column_check_texts(here, column->dictionary, there, of->dictionary, err);
}

static kr_status check_columns(const kr_index *index, const kr_column *columns, uint32_t n, const char *what,
                               int *reaches, kr_error *err)
{
    kr_status status = check_lengths(index->device, columns, n, what, reaches, err);
    for (uint32_t j = 0; j < n && status == KR_OK; ++j)
        status = check_type(index, &columns[j], j, what, err);
    return status;
}

static kr_status check_many(const kr_index *index, const char *call, kr_error *err)
{
    if (!index)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: index is NULL", call);
    return index->composite
               ? KR_OK
               : kr_fail(err, KR_ERR_ARGUMENT,
                         "%s: the index is one over a single column; use the call for that", call);
}

/* ---- Builds and changes ------------------------------------------------------------------------------ */

kr_status kr_index_create_columns(kr_device *device, const char *spec, const kr_column *columns,
                                  uint32_t n_columns, const uint32_t *row_ids, kr_stream *stream,
                                  kr_index **index, kr_error *err)
{
    kr_spec parsed;
    kr_shape shape;
    if (!device || !index)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_create_columns: %s is NULL",
                       device ? "index" : "device");
    if (!n_columns || n_columns > KR_COMPOSITE_INDEXED)
        return kr_fail(err, n_columns ? KR_ERR_LIMIT : KR_ERR_ARGUMENT,
                       "%u columns, but an index is over 1 to %d: make one of them of several", n_columns,
                       KR_COMPOSITE_INDEXED);
    if ((uintptr_t)row_ids % sizeof *row_ids)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_create_columns: row_ids must be aligned to 4 bytes");
    kr_status status = check_lengths(device, columns, n_columns, "the columns", NULL, err);
    if (status == KR_OK)
        status = kr_pointer_check(device, row_ids, "row_ids", NULL, err);
    if (status == KR_OK)
        status = kr_choose(device, spec, &parsed, NULL, err);
    if (status == KR_OK) {
        /* What the columns become is not known yet: integers of at most so many bits. */
        const kr_column keys = {.type = KR_U64, .count = columns[0].count};
        status = kr_index_shape_make(device, &parsed, &keys, row_ids, &shape, err);
    }
    if (status == KR_OK)
        status = kr_stream_check(device, stream, "kr_index_create_columns", err);
    if (status != KR_OK)
        return status;
    return kr_texts_are_among(columns, n_columns)
               ? kr_texts_make_columns_index(device, &parsed, columns, n_columns, row_ids, stream, index, err)
               : kr_index_make_columns(device, &parsed, columns, n_columns, row_ids, stream, index, err);
}

/* What a call that updates was given. */
typedef struct update_given {
    const char *call;
    const kr_column *inserted, *deleted;
    const uint32_t *rows;
} update_given;

static kr_status read_update(const kr_index *index, const update_given *g, kr_stream *stream,
                             kr_update *wanted, kr_error *err)
{
    kr_status status = check_many(index, g->call, err);
    if (status == KR_OK && g->rows && !g->inserted)
        status = kr_fail(err, KR_ERR_ARGUMENT,
                         "%s: insert_rows without insert_columns; give a row for each id", g->call);
    if (status == KR_OK && g->inserted)
        status = check_columns(index, g->inserted, index->composite->n, "insert_columns", NULL, err);
    if (status == KR_OK && g->deleted)
        status = check_columns(index, g->deleted, index->composite->n, "delete_columns", NULL, err);
    if (status != KR_OK)
        return status;
    *wanted = (kr_update){
        .insert_keys = {.type = index->info.type, .count = g->inserted ? g->inserted[0].count : 0},
        .delete_keys = {.type = index->info.type, .count = g->deleted ? g->deleted[0].count : 0},
        .insert_rows = g->rows};
    return kr_call_check_update(index, wanted, stream, g->call, err);
}

static kr_status apply_update(kr_index *index, const update_given *g, const kr_update *wanted,
                              kr_stream *stream, kr_error *err)
{
    const uint32_t n = index->composite->n;
    return (g->inserted && kr_texts_are_among(g->inserted, n)) ||
                   (g->deleted && kr_texts_are_among(g->deleted, n))
               ? kr_texts_update_columns(index, g->inserted, g->deleted, wanted, stream, err)
               : kr_index_update_columns_apply(index, g->inserted, g->deleted, wanted, stream, err);
}

kr_status kr_index_update_columns(kr_index *index, const kr_column *insert_columns,
                                  const uint32_t *insert_rows, const kr_column *delete_columns,
                                  kr_stream *stream, kr_error *err)
{
    const update_given g = {"kr_index_update_columns", insert_columns, delete_columns, insert_rows};
    kr_update wanted;
    const kr_status status = read_update(index, &g, stream, &wanted, err);
    return status == KR_OK ? apply_update(index, &g, &wanted, stream, err) : status;
}

kr_status kr_index_next_version_columns(const kr_index *index, const kr_column *insert_columns,
                                        const uint32_t *insert_rows, const kr_column *delete_columns,
                                        kr_stream *stream, kr_index **next, kr_error *err)
{
    const update_given g = {"kr_index_next_version_columns", insert_columns, delete_columns, insert_rows};
    kr_update wanted;
    kr_index_version version;
    const kr_status status =
        next ? read_update(index, &g, stream, &wanted, err)
             : kr_fail(err, KR_ERR_ARGUMENT, "kr_index_next_version_columns: next is NULL");
    if (status != KR_OK)
        return status;
    kr_index_version_begin(index, stream, &version, err);
    kr_work *w = &version.work;
    KR_STEP(w, apply_update(version.made, &g, &wanted, w->stream, err));
    return kr_index_version_end(&version, next);
}

/* ---- Lookups ------------------------------------------------------------------------------------------ */

static kr_status check_given(const kr_index *index, const kr_column_probes *given, kr_error *err)
{
    const uint32_t n = index->composite->n;
    if (given->how > KR_TEXTS_PREFIX)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_column_probes.how: %u is none of kr_texts_bound, nor 0",
                       given->how);
    if (!given->n_columns || given->n_columns > n)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "probes of %u columns: the index has %u, and the first 1 to %u of them "
                       "can be given",
                       given->n_columns, n, n);
    if (given->upper && given->nearest)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_column_probes: upper and nearest are both given: ranges have no nearest value");
    if (given->how && (given->upper || given->nearest))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_column_probes: how says what the last column is asked for, so leave %s at NULL",
                       given->upper ? "upper" : "nearest");
    return KR_OK;
}

/* What the last column is asked for. */
static kr_status check_last(const kr_index *index, const kr_column_probes *read, int *reaches,
                            kr_composite_probes *probes, kr_error *err)
{
    const uint32_t last = read->n_columns - 1;
    kr_status status = KR_OK;
    if (read->how && !kr_strings_are(read->columns[last].type))
        return kr_fail(err, KR_ERR_TYPE,
                       "kr_column_probes.how is for texts, but column %u of the probes is %s: use upper",
                       last, kr_type_name(read->columns[last].type));
    if (read->nearest) {
        const kr_composite_column *of = &index->composite->columns[last];
        status = kr_nearby_make((kr_type)of->type, of->dictionary != 0, read->nearest, &probes->near, err);
        return status == KR_OK ? kr_query_check_composite(index, probes, err) : status;
    }
    if (!read->upper)
        return KR_OK;
    probes->upper = *read->upper;
    status = check_column(index->device, read->upper, "the upper bounds", reaches, err);
    if (status == KR_OK && read->upper->count != read->columns[0].count)
        status = kr_fail(err, KR_ERR_ARGUMENT, "%llu upper bounds for %llu probes: give one for each",
                         (unsigned long long)read->upper->count, (unsigned long long)read->columns[0].count);
    if (status == KR_OK)
        status = check_type(index, read->upper, last, "the upper bounds", err);
    if (status == KR_OK && kr_strings_are(read->upper->type) != kr_strings_are(read->columns[last].type))
        status = kr_fail(err, KR_ERR_TYPE,
                         "lower bounds are %s and upper bounds are %s: give texts or codes as both",
                         kr_type_name(read->columns[last].type), kr_type_name(read->upper->type));
    return status;
}

kr_status kr_call_check_columns(const kr_index *index, const kr_column_probes *given, kr_stream *stream,
                                int *reaches, kr_composite_probes *probes, kr_error *err)
{
    kr_column_probes read;
    kr_status status = check_many(index, "kr_index_lookup_columns", err);
    if (status == KR_OK && !given)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_index_lookup_columns: probes is NULL");
    if (status == KR_OK && stream && stream->device != index->device)
        status = kr_fail(err, KR_ERR_ARGUMENT, "the stream belongs to another device than the index");
    if (status == KR_OK)
        status = kr_struct_read(&kr_struct_column_probes, given, &read, err);
    if (status == KR_OK)
        status = check_given(index, &read, err);
    if (status == KR_OK)
        status = check_columns(index, read.columns, read.n_columns, "the probes", reaches, err);
    if (status != KR_OK)
        return status;
    *probes = (kr_composite_probes){.n = read.n_columns, .has_upper = read.upper != NULL, .how = read.how};
    for (uint32_t j = 0; j < read.n_columns; ++j)
        probes->columns[j] = read.columns[j];
    status = check_last(index, &read, reaches, probes, err);
    return status == KR_OK ? kr_texts_check_columns(index, probes, err) : status;
}

kr_status kr_call_check_kept(const kr_index *index, const kr_composite_probes *probes, kr_error *err)
{
    kr_status status = check_columns(index, probes->columns, probes->n, "the prepared probes", NULL, err);
    if (status == KR_OK && probes->has_upper)
        status = check_type(index, &probes->upper, probes->n - 1, "the prepared upper bounds", err);
    return status == KR_OK ? kr_texts_check_columns(index, probes, err) : status;
}

/* A work has no room for the copies of so many columns. */
static void bring(kr_work *w, const kr_column *column, kr_resident *copy, kr_column *here)
{
    KR_STEP(w, kr_column_resident_make(w->device, column, "a copy of the probes", w->stream, copy, w->err));
    if (kr_work_goes_on(w))
        *here = copy->column;
}

void kr_call_make_columns_query(kr_work *w, kr_call *c, const kr_composite_probes *probes)
{
    kr_composite_probes codes, here;
    kr_resident copies[KR_COMPOSITE_MOST + 1] = {{{0}}};
    kr_texts_make_columns(w, c->index, probes, 0, &codes);
    here = codes;
    for (uint32_t j = 0; j < codes.n; ++j)
        bring(w, &codes.columns[j], &copies[j], &here.columns[j]);
    if (codes.has_upper)
        bring(w, &codes.upper, &copies[KR_COMPOSITE_MOST], &here.upper);
    kr_work_lap(w, "copy");
    kr_query_make_composite(w, c->index, &here, c->keys, &c->query);
    for (uint32_t j = 0; j <= KR_COMPOSITE_MOST; ++j)
        kr_column_resident_release(w->device, &copies[j], w->stream);
    c->lower = &c->keys[0];
    c->upper = c->keys[1].data ? &c->keys[1] : NULL;
}
