#include "probes.h"

#include <strings.h>

/* ---- Questions -------------------------------------------------------------------------------- */

kr_status question_of_side(span side, question *asked, kr_error *err)
{
    static const struct {
        const char *word;
        kr_nearest_side side;
        uint32_t strict;
    } sides[] = {{"below", KR_NEAREST_BELOW, 0},  {"<=", KR_NEAREST_BELOW, 0}, {"<", KR_NEAREST_BELOW, 1},
                 {"above", KR_NEAREST_ABOVE, 0},  {">=", KR_NEAREST_ABOVE, 0}, {">", KR_NEAREST_ABOVE, 1},
                 {"either", KR_NEAREST_EITHER, 0}};
    for (uint32_t i = 0; i < sizeof sides / sizeof *sides; ++i)
        if (strlen(sides[i].word) == side.nbytes && !memcmp(sides[i].word, side.data, side.nbytes)) {
            *asked = (question){.is_nearest = 1,
                                .nearest = {.struct_size = sizeof asked->nearest,
                                            .side = sides[i].side,
                                            .strict = sides[i].strict}};
            return KR_OK;
        }
    return fail(err, KR_ERR_ARGUMENT,
                "'%.*s' is no side: write 'below' or '<=', '<', 'above' or '>=', '>', or 'either'",
                (int)(side.nbytes < 40 ? side.nbytes : 40), side.data);
}

/* ---- Columns ---------------------------------------------------------------------------------- */

static duckdb_vector field_of(duckdb_vector vector, int is_struct, uint32_t c)
{
    return is_struct ? duckdb_struct_vector_get_child(vector, c) : vector;
}

/* Fields come in the order of the index, which their names must not contradict. */
static kr_status check_name(const item *of, uint32_t c, duckdb_logical_type type, kr_error *err)
{
    char *name = duckdb_struct_type_child_name(type, c);
    const char *want = of->columns[c].name;
    const int goes = !name || !*name || !want || !*want || !strcasecmp(name, want);
    const kr_status status =
        goes ? KR_OK
             : fail(err, KR_ERR_TYPE,
                    "field %u of keys of '%s' is \"%s\", here it is \"%s\": give fields in the "
                    "order of the index",
                    c + 1, of->name, want, name);
    duckdb_free(name);
    return status;
}

static kr_status add_column(probes *made, uint32_t c, duckdb_vector vector, column *to, column_type *from,
                            kr_error *err)
{
    const item *of = made->of;
    column_type type = of->columns[c];
    type.name = NULL;
    column_init(to, &type);
    const duckdb_type sql = type_of(vector);
    if (sql == DUCKDB_TYPE_SQLNULL) { /* a bare NULL: the vector has no values */
        *from = type;
        return KR_OK;
    }
    kr_status status = column_type_of(sql, from, err);
    if (status == KR_OK)
        status = conversion_check(from, &type, err);
    char before[sizeof err->text];
    if (status != KR_OK) {
        memcpy(before, err->text, sizeof before);
        fail(err, status, "'%s': %.480s", of->name, before);
    }
    return status;
}

kr_status probes_init(probes *made, const item *of, const question *asked, duckdb_vector lower,
                      duckdb_vector upper, kr_error *err)
{
    *made = (probes){.of = of, .asked = *asked, .n_columns = 1};
    duckdb_logical_type type = duckdb_vector_get_column_type(lower);
    const duckdb_type id = duckdb_get_type_id(type);
    kr_status status = KR_OK;
    if (id != DUCKDB_TYPE_SQLNULL && of->is_struct != (id == DUCKDB_TYPE_STRUCT))
        status = of->is_struct
                     ? fail(err, KR_ERR_TYPE,
                            "keys of '%s' are structs of %u fields, as {%s: ...}: give one of these",
                            of->name, of->n_columns, of->columns[0].name ? of->columns[0].name : "a")
                     : fail(err, KR_ERR_TYPE, "keys of '%s' are %s, not structs", of->name,
                            sql_name(of->columns[0].sql));
    if (status == KR_OK && id == DUCKDB_TYPE_STRUCT)
        made->n_columns = (uint32_t)duckdb_struct_type_child_count(type);
    if (status == KR_OK && made->n_columns > of->n_columns)
        status = fail(err, KR_ERR_TYPE, "keys of '%s' have %u fields, these have %u", of->name, of->n_columns,
                      made->n_columns);
    for (uint32_t c = 0; status == KR_OK && c < made->n_columns; ++c) {
        if (id == DUCKDB_TYPE_STRUCT)
            status = check_name(of, c, type, err);
        if (status == KR_OK)
            status = add_column(made, c, id == DUCKDB_TYPE_STRUCT ? field_of(lower, 1, c) : lower,
                                made->lower + c, made->from + c, err);
    }
    if (status == KR_OK && upper)
        status =
            add_column(made, made->n_columns - 1, upper, &made->upper, made->from + made->n_columns, err);
    duckdb_destroy_logical_type(&type);
    if (status == KR_OK && asked->is_nearest && id != DUCKDB_TYPE_SQLNULL)
        status = probes_check_tolerance(of->name, of->columns + made->n_columns - 1, &asked->nearest, err);
    return status;
}

kr_status probes_check_tolerance(const char *name, const column_type *key, const kr_nearest_options *nearest,
                                 kr_error *err)
{
    const int is_float = key->type == KR_F32 || key->type == KR_F64;
    if (!nearest->limited || (is_float ? !nearest->tolerance : nearest->float_tolerance == 0))
        return KR_OK;
    return fail(err, KR_ERR_TYPE, "keys of '%s' are %s, whose tolerance is %s", name, sql_name(key->sql),
                is_float ? "a DOUBLE: float_tolerance" : "a BIGINT in their unit: tolerance");
}

/* A vector of bare NULLs has values of no type. */
static kr_status add_nulls(column *grown, uint64_t n, kr_error *err)
{
    column one = {.type = grown->type, .count = 1};
    uint64_t zeros[2] = {0};
    uint8_t validity = 0;
    kr_status status = KR_OK;
    one.data = zeros;
    one.validity = &validity;
    for (uint64_t i = 0; status == KR_OK && i < n; ++i)
        status = column_concat(grown, &one, err);
    return status;
}

static kr_status add_values(column *to, const column_type *from, duckdb_vector vector, idx_t first, idx_t n,
                            rounding round, uint64_t *n_rounded, kr_error *err)
{
    if (type_of(vector) == DUCKDB_TYPE_SQLNULL)
        return add_nulls(to, n, err);
    return column_convert(to, from, vector, first, n, round, n_rounded, err);
}

/* Which way a probe between two keys goes, so that it finds what it would find itself. */
static rounding rounding_of(const probes *of, uint32_t c)
{
    const kr_nearest_options *nearest = &of->asked.nearest;
    if (c + 1 < of->n_columns)
        return ROUND_NONE;
    if (of->asked.is_range)
        return ROUND_UP;
    if (!of->asked.is_nearest || nearest->side == KR_NEAREST_EITHER)
        return ROUND_NONE;
    return (nearest->side == KR_NEAREST_BELOW) == !nearest->strict ? ROUND_DOWN : ROUND_UP;
}

/* A struct that is NULL has fields that are NULL; a probe that was rounded has another distance. */
kr_status probes_add(probes *grown, duckdb_vector lower, duckdb_vector upper, idx_t first, idx_t n,
                     kr_error *err)
{
    kr_status status = KR_OK;
    uint64_t ignored = 0; /* a group that the index cannot have is not there; it has no distance */
    const int is_struct = grown->of->is_struct && type_of(lower) == DUCKDB_TYPE_STRUCT;
    const uint64_t before = grown->n_rounded;
    for (uint32_t c = 0; status == KR_OK && c < grown->n_columns; ++c)
        status =
            add_values(grown->lower + c, grown->from + c, field_of(lower, is_struct, c), first, n,
                       rounding_of(grown, c), c + 1 < grown->n_columns ? &ignored : &grown->n_rounded, err);
    if (status == KR_OK && upper)
        status = add_values(&grown->upper, grown->from + grown->n_columns, upper, first, n, ROUND_DOWN,
                            &ignored, err);
    const kr_nearest_options *nearest = &grown->asked.nearest;
    if (status == KR_OK && grown->asked.is_nearest && grown->n_rounded > before &&
        (nearest->strict || nearest->limited || nearest->side == KR_NEAREST_EITHER)) {
        const column_type *want = &grown->of->columns[grown->n_columns - 1];
        return fail(err, KR_ERR_TYPE,
                    "keys of '%s' are %s, which have no such value as a probe of %s: write CAST(... AS %s)",
                    grown->of->name, sql_name(want->sql), sql_name(grown->from[grown->n_columns - 1].sql),
                    sql_name(want->sql));
    }
    return status;
}

void probes_clear(probes *cleared)
{
    for (uint32_t c = 0; c < cleared->n_columns; ++c)
        column_clear(cleared->lower + c);
    column_clear(&cleared->upper);
    cleared->n_rounded = 0;
}

void probes_free(probes *freed)
{
    for (uint32_t c = 0; c < COLUMNS_MOST; ++c)
        column_free(freed->lower + c);
    column_free(&freed->upper);
    *freed = (probes){0};
}

uint64_t probes_count(const probes *of)
{
    return of->lower[0].count;
}

/* ---- Answers ---------------------------------------------------------------------------------- */

kr_status probes_answer(const probes *of, uint64_t first, uint64_t n, const kr_sink *sink, kr_error *err)
{
    const question *asked = &of->asked;
    kr_index *index = of->of->index;
    kr_column lower[COLUMNS_MOST];
    for (uint32_t c = 0; c < of->n_columns; ++c)
        lower[c] = column_slice(of->lower + c, first, n);
    const kr_column upper = asked->is_range ? column_slice(&of->upper, first, n) : (kr_column){0};
    if (of->of->n_columns > 1) {
        const kr_column_probes all = {.struct_size = sizeof all,
                                      .columns = lower,
                                      .n_columns = of->n_columns,
                                      .upper = asked->is_range ? &upper : NULL,
                                      .nearest = asked->is_nearest ? &asked->nearest : NULL};
        return kr_index_lookup_columns(index, &all, sink, NULL, err);
    }
    return asked->is_range     ? kr_index_range(index, lower, &upper, sink, NULL, err)
           : asked->is_nearest ? kr_index_nearest(index, lower, &asked->nearest, sink, NULL, err)
                               : kr_index_lookup(index, lower, sink, NULL, err);
}

/* Most probes have one row: room for these first, the right room if there are more. */
kr_status probes_rows(const probes *of, uint64_t first, uint64_t *n, uint64_t most, uint64_t *offsets,
                      uint32_t **rows, kr_error *err)
{
    uint64_t room = 2 * *n + 64;
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROWS, .out = offsets};
    for (int again = 0;; ++again) {
        *rows = malloc(room * sizeof **rows);
        if (!*rows)
            return fail(err, KR_ERR_HOST_MEMORY, "%llu rows need memory, which there is not",
                        (unsigned long long)room);
        sink.rows = *rows;
        sink.rows_capacity = room;
        kr_status status = probes_answer(of, first, *n, &sink, err);
        if (status == KR_OK)
            return KR_OK;
        free(*rows);
        *rows = sink.rows = NULL;
        if (status != KR_ERR_LIMIT || again)
            return status;
        sink.rows_capacity = 0;
        status = probes_answer(of, first, *n, &sink, err);
        if (status != KR_OK)
            return status;
        while (*n > 1 && offsets[*n] > most)
            --*n;
        room = offsets[*n] + 1;
    }
}
