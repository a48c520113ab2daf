#include "build.h"

void builder_free(builder *freed)
{
    if (!freed)
        return;
    for (uint32_t c = 0; c < freed->n_columns; ++c)
        column_free(freed->columns + c);
    free(freed->columns);
    column_free(&freed->rows);
    column_free(&freed->values);
    free(freed->name);
    free(freed->spec);
    free(freed);
}

static kr_status no_memory(kr_error *err)
{
    return fail(err, KR_ERR_HOST_MEMORY, "an aggregate needs memory, which there is not");
}

/* ---- Taking rows ------------------------------------------------------------------------------ */

/* A column for each field of a struct, or one for any other type. */
static kr_status make_columns(builder *made, duckdb_vector vector, kr_error *err)
{
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    made->is_struct = duckdb_get_type_id(type) == DUCKDB_TYPE_STRUCT;
    const uint32_t n = made->is_struct ? (uint32_t)duckdb_struct_type_child_count(type) : 1;
    kr_status status = KR_OK;
    made->columns = calloc(n ? n : 1, sizeof *made->columns);
    if (!made->columns)
        status = no_memory(err);
    for (uint32_t c = 0; status == KR_OK && c < n; ++c) {
        column_type of;
        char *name = made->is_struct ? duckdb_struct_type_child_name(type, c) : NULL;
        duckdb_vector child = made->is_struct ? duckdb_struct_vector_get_child(vector, c) : vector;
        status = column_type_of(type_of(child), &of, err);
        if (status == KR_OK) {
            of.name = name ? copy_text((span){name, strlen(name)}) : NULL;
            column_init(made->columns + c, &of);
            made->n_columns = c + 1;
            if (name && !of.name)
                status = no_memory(err);
        }
        duckdb_free(name);
    }
    duckdb_destroy_logical_type(&type);
    return status;
}

static kr_status make_builder(builder **made, duckdb_data_chunk chunk, const arguments *at, idx_t row,
                              kr_error *err)
{
    duckdb_vector names = duckdb_data_chunk_get_vector(chunk, 0);
    builder *of = calloc(1, sizeof *of);
    if (!of)
        return no_memory(err);
    *made = of;
    span spec = {"best", 4};
    if (at->spec >= 0 && !is_null(duckdb_data_chunk_get_vector(chunk, (idx_t)at->spec), row))
        spec = text_at(duckdb_data_chunk_get_vector(chunk, (idx_t)at->spec), row);
    kr_status status = take_text(text_at(names, row), "the name", &of->name, err);
    if (status == KR_OK)
        status = take_text(spec, "the spec", &of->spec, err);
    if (status != KR_OK)
        return status;
    if (!*of->name)
        return fail(err, KR_ERR_ARGUMENT, "the name is an empty text: give it one");
    column_type type = {.sql = DUCKDB_TYPE_BIGINT, .type = KR_I64};
    column_init(&of->rows, &type);
    if (at->value >= 0) {
        status = column_type_of(type_of(duckdb_data_chunk_get_vector(chunk, (idx_t)at->value)), &type, err);
        if (status != KR_OK)
            return status;
        column_init(&of->values, &type);
    }
    return make_columns(of, duckdb_data_chunk_get_vector(chunk, (idx_t)at->key), err);
}

static int says(duckdb_vector texts, idx_t row, const char *what)
{
    const span given = text_at(texts, row);
    return given.nbytes == strlen(what) && !memcmp(given.data, what, given.nbytes);
}

/* Whether n rows all are the same text, as a constant is in every row; `what`: which one. NULLs are the same
 * if `nulls` is set. */
static int all_say(duckdb_vector texts, idx_t first, idx_t n, const char *what, int nulls)
{
    const duckdb_string_t *all = duckdb_vector_get_data(texts);
    idx_t last = first + n; /* the last row that was read */
    for (idx_t i = first; i < first + n; ++i) {
        if (is_null(texts, i)) {
            if (!nulls)
                return 0;
        } else if (last == first + n || memcmp(all + i, all + last, sizeof *all)) {
            if (!says(texts, i, what))
                return 0;
            last = i;
        }
    }
    return 1;
}

/* Name and spec are those of the first row; rows have a number. */
static kr_status check_rows(const builder *of, duckdb_data_chunk chunk, const arguments *at, idx_t first,
                            idx_t n, kr_error *err)
{
    duckdb_vector rows = duckdb_data_chunk_get_vector(chunk, (idx_t)at->row);
    if (!all_say(duckdb_data_chunk_get_vector(chunk, 0), first, n, of->name, 0))
        return fail(err, KR_ERR_ARGUMENT,
                    "rows of one group have two names, '%s' and another one: GROUP BY the name", of->name);
    if (at->spec >= 0 &&
        !all_say(duckdb_data_chunk_get_vector(chunk, (idx_t)at->spec), first, n, of->spec, 1))
        return fail(err, KR_ERR_ARGUMENT, "rows of one group have two specs, '%s' and another one", of->spec);
    for (idx_t i = first; duckdb_vector_get_validity(rows) && i < first + n; ++i)
        if (is_null(rows, i))
            return fail(err, KR_ERR_ARGUMENT,
                        "a row is NULL: give each key the row that it belongs to, as rowid");
    return KR_OK;
}

kr_status builder_take(builder **taken, duckdb_data_chunk chunk, const arguments *at, idx_t first, idx_t n,
                       kr_error *err)
{
    kr_status status = KR_OK;
    if (!*taken && is_null(duckdb_data_chunk_get_vector(chunk, 0), first))
        return fail(err, KR_ERR_ARGUMENT, "the name is NULL: give it one");
    if (!*taken)
        status = make_builder(taken, chunk, at, first, err);
    builder *of = *taken;
    if (status == KR_OK)
        status = check_rows(of, chunk, at, first, n, err);
    duckdb_vector key = duckdb_data_chunk_get_vector(chunk, (idx_t)at->key);
    for (uint32_t c = 0; status == KR_OK && c < of->n_columns; ++c)
        status = column_append(of->columns + c, of->is_struct ? duckdb_struct_vector_get_child(key, c) : key,
                               first, n, err);
    if (status == KR_OK)
        status = column_append(&of->rows, duckdb_data_chunk_get_vector(chunk, (idx_t)at->row), first, n, err);
    if (status == KR_OK && at->value >= 0)
        status =
            column_append(&of->values, duckdb_data_chunk_get_vector(chunk, (idx_t)at->value), first, n, err);
    return status;
}

/* One without rows for what another takes. */
static kr_status make_like(builder **made, const builder *other, kr_error *err)
{
    builder *of = calloc(1, sizeof *of);
    if (!of)
        return no_memory(err);
    *made = of;
    of->name = copy_text((span){other->name, strlen(other->name)});
    of->spec = copy_text((span){other->spec, strlen(other->spec)});
    of->columns = calloc(other->n_columns + 1, sizeof *of->columns);
    of->is_struct = other->is_struct;
    of->rows.type = other->rows.type;
    of->values.type = other->values.type;
    if (!of->name || !of->spec || !of->columns)
        return no_memory(err);
    for (uint32_t c = 0; c < other->n_columns; ++c, ++of->n_columns) {
        column_type type = other->columns[c].type;
        type.name = type.name ? copy_text((span){type.name, strlen(type.name)}) : NULL;
        column_init(of->columns + c, &type);
        if (!type.name && other->columns[c].type.name)
            return no_memory(err);
    }
    return KR_OK;
}

kr_status builder_combine(builder **into, const builder *of, kr_error *err)
{
    kr_status status = of && !*into ? make_like(into, of, err) : KR_OK;
    if (!of || status != KR_OK)
        return status;
    builder *to = *into;
    if (strcmp(to->name, of->name) || strcmp(to->spec, of->spec))
        return fail(err, KR_ERR_ARGUMENT,
                    "rows of one group have two names or specs, '%s' and '%s': GROUP BY the name", to->name,
                    strcmp(to->name, of->name) ? of->name : of->spec);
    status = column_concat(&to->rows, &of->rows, err);
    if (status == KR_OK && to->values.type.type)
        status = column_concat(&to->values, &of->values, err);
    for (uint32_t c = 0; status == KR_OK && c < to->n_columns; ++c)
        status = column_concat(to->columns + c, of->columns + c, err);
    return status;
}

contents builder_contents(const builder *of)
{
    contents made = {.n = of->rows.count};
    const int64_t *rows = of->rows.data;
    for (uint64_t i = 0; i < of->rows.count; ++i) {
        uint64_t hash = (uint64_t)rows[i] * UINT64_C(0xE7037ED1A0B428DB);
        for (uint32_t c = 0; c < of->n_columns; ++c)
            hash = column_hash(of->columns + c, i, hash + c);
        made.sums[0] += hash;
        made.sums[1] += hash * (hash >> 32 | 1);
    }
    return made;
}

/* ---- Rows and row ids ------------------------------------------------------------------------- */

typedef struct numbered {
    int64_t row;
    uint64_t at;
} numbered;

static int by_row(const void *one, const void *other)
{
    const numbered *a = one, *b = other;
    return a->row != b->row ? (a->row > b->row) - (a->row < b->row) : (a->at > b->at) - (a->at < b->at);
}

typedef enum order { ORDER_POSITIONS, ORDER_ASCENDING, ORDER_SMALL, ORDER_ANY } order;

/* Whether rows are 0, 1, 2, ..., or ascend, or are small numbers, each once. */
static kr_status order_of(const column *of, order *found, kr_error *err)
{
    const int64_t *rows = of->data;
    const uint64_t n = of->count;
    int64_t most = -1;
    int positions = 1, ascends = 1, small = 1;
    for (uint64_t i = 0; i < n; ++i) {
        positions &= rows[i] == (int64_t)i;
        ascends &= !i || rows[i] > rows[i - 1];
        small &= rows[i] >= 0;
        most = rows[i] > most ? rows[i] : most;
    }
    const uint64_t limit = 32 * n + 1024 < KR_NO_ROW ? 32 * n + 1024 : KR_NO_ROW;
    small = small && most < (int64_t)limit;
    uint8_t *seen = small && !positions ? calloc((uint64_t)most / 8 + 1, 1) : NULL;
    if (small && !positions && !seen)
        return no_memory(err);
    for (uint64_t i = 0; seen && small && i < n; ++i) {
        const uint8_t bit = (uint8_t)(1u << rows[i] % 8);
        small = !(seen[rows[i] / 8] & bit);
        seen[rows[i] / 8] |= bit;
    }
    free(seen);
    *found = positions ? ORDER_POSITIONS : small ? ORDER_SMALL : ascends ? ORDER_ASCENDING : ORDER_ANY;
    return KR_OK;
}

/* The values in the order of row ids. */
static kr_status move_values(column *values, const uint32_t *row_ids, uint64_t most, kr_error *err)
{
    if (!values->type.type || !row_ids)
        return KR_OK;
    uint64_t *moved = calloc(most + 1, sizeof *moved);
    uint8_t *validity = values->validity ? calloc(most / 8 + 1, 1) : NULL;
    if (!moved || (values->validity && !validity)) {
        free(moved);
        return no_memory(err);
    }
    for (uint64_t i = 0; i < values->count; ++i) {
        moved[row_ids[i]] = ((const uint64_t *)values->data)[i];
        if (validity && !column_is_null(values, i))
            validity[row_ids[i] / 8] |= (uint8_t)(1u << row_ids[i] % 8);
    }
    free(values->data);
    free(values->validity);
    values->data = moved;
    values->validity = validity;
    values->count = values->room = most + 1;
    return KR_OK;
}

/* Where the row of each rank is. */
static kr_status ranks_of(const column *of, uint32_t *from, kr_error *err)
{
    const int64_t *rows = of->data;
    numbered *all = malloc((of->count + 1) * sizeof *all);
    if (!all)
        return no_memory(err);
    for (uint64_t i = 0; i < of->count; ++i)
        all[i] = (numbered){rows[i], i};
    qsort(all, of->count, sizeof *all, by_row);
    for (uint64_t i = 0; i < of->count; ++i)
        from[i] = (uint32_t)all[i].at;
    free(all);
    return KR_OK;
}

/* The same of rows that are small numbers, each once. */
static kr_status small_ranks_of(const column *of, uint32_t *from, kr_error *err)
{
    const int64_t *rows = of->data;
    int64_t most = 0;
    for (uint64_t i = 0; i < of->count; ++i)
        most = rows[i] > most ? rows[i] : most;
    if ((uint64_t)most > 4 * of->count)
        return ranks_of(of, from, err);
    uint32_t *at = malloc(((uint64_t)most + 1) * sizeof *at);
    if (!at)
        return no_memory(err);
    memset(at, 0xFF, ((uint64_t)most + 1) * sizeof *at);
    for (uint64_t i = 0; i < of->count; ++i)
        at[rows[i]] = (uint32_t)i;
    for (uint64_t row = 0, i = 0; row <= (uint64_t)most; ++row)
        if (at[row] != KR_NO_ROW)
            from[i++] = at[row];
    free(at);
    return KR_OK;
}

/* Row ids in the order of rows, which are kept beside them. */
static kr_status rank_rows(const column *of, uint32_t *row_ids, int64_t *kept, kr_error *err)
{
    const int64_t *rows = of->data;
    uint32_t *from = malloc((of->count + 1) * sizeof *from);
    const kr_status status = from ? ranks_of(of, from, err) : no_memory(err);
    for (uint64_t i = 0; status == KR_OK && i < of->count; ++i) {
        row_ids[from[i]] = (uint32_t)i;
        kept[i] = rows[from[i]];
    }
    free(from);
    return status;
}

/* Row ids for the rows that SQL names, NULL if these are positions. Rows that are small numbers, each once,
 * are row ids; others are kept beside the index. */
static kr_status number_rows(builder *of, item *made, uint32_t **row_ids, kr_error *err)
{
    order found = ORDER_ANY;
    const uint64_t n = of->rows.count;
    const int64_t *rows = of->rows.data;
    kr_status status = n < KR_NO_ROW
                           ? order_of(&of->rows, &found, err)
                           : fail(err, KR_ERR_LIMIT, "an index or a table has at most 2^32 - 2 rows");
    if (status != KR_OK || found == ORDER_POSITIONS)
        return status;
    if (found == ORDER_ASCENDING) {
        made->rows = of->rows.data; /* taken over */
        of->rows.data = NULL;
        return KR_OK;
    }
    uint64_t most = n ? n - 1 : 0;
    *row_ids = malloc((n + 1) * sizeof **row_ids);
    if (found == ORDER_ANY)
        made->rows = malloc((n + 1) * sizeof *made->rows);
    if (!*row_ids || (found == ORDER_ANY && !made->rows))
        return no_memory(err);
    if (found == ORDER_ANY)
        status = rank_rows(&of->rows, *row_ids, made->rows, err);
    for (uint64_t i = 0; found == ORDER_SMALL && i < n; ++i) {
        (*row_ids)[i] = (uint32_t)rows[i];
        most = (*row_ids)[i] > most ? (*row_ids)[i] : most;
    }
    return status == KR_OK ? move_values(&of->values, *row_ids, most, err) : status;
}

/* ---- Making ----------------------------------------------------------------------------------- */

/* What index and table have in common; types and names of columns move to the item. */
static item *begin_item(builder *of, item_kind kind, kr_column *views)
{
    item *made = item_create(kind);
    column_type *types = calloc(of->n_columns + 1, sizeof *types);
    if (!made || !types) {
        free(made);
        free(types);
        return NULL;
    }
    for (uint32_t c = 0; c < of->n_columns; ++c) {
        views[c] = column_view(of->columns + c);
        types[c] = of->columns[c].type;
        of->columns[c].type.name = NULL;
    }
    made->columns = types;
    made->n_columns = of->n_columns;
    made->is_struct = of->is_struct;
    made->n_rows = of->rows.count;
    made->holds = builder_contents(of);
    made->name = copy_text((span){of->name, strlen(of->name)});
    made->source = copy_text((span){"a query", 7});
    return made;
}

kr_status builder_make_index(builder *of, registry *in, int replace, uint64_t *n_rows, kr_error *err)
{
    kr_column views[COLUMNS_MOST];
    uint32_t *row_ids = NULL;
    if (of->n_columns > COLUMNS_MOST || !of->n_columns)
        return fail(err, KR_ERR_LIMIT, "keys have 1 to %d columns, these have %u", COLUMNS_MOST,
                    of->n_columns);
    item *made = begin_item(of, ITEM_INDEX, views);
    kr_status status = made && made->name && made->source ? KR_OK : no_memory(err);
    if (status == KR_OK)
        status = number_rows(of, made, &row_ids, err);
    if (status == KR_OK)
        status = registry_device(in, 0, &made->on, err);
    if (status == KR_OK)
        status = of->n_columns == 1
                     ? kr_index_create(made->on->device, of->spec, views, row_ids, NULL, &made->index, err)
                     : kr_index_create_columns(made->on->device, of->spec, views, of->n_columns, row_ids,
                                               NULL, &made->index, err);
    kr_index_info info = {.struct_size = sizeof info};
    if (status == KR_OK)
        status = kr_index_query(made->index, &info, err);
    if (status == KR_OK) {
        *n_rows = info.rows;
        made->values = of->values;
        of->values = (column){0};
        status = registry_add(in, made, replace, err);
    }
    free(row_ids);
    if (status != KR_OK)
        item_free(in, made);
    return status;
}

static kr_status create_table(builder *of, item *made, const kr_column *views, kr_error *err)
{
    const char **names = calloc(of->n_columns, sizeof *names);
    kr_unit *units = calloc(of->n_columns, sizeof *units);
    const kr_table_options options = {.struct_size = sizeof options, .copy = KR_COPY_ALWAYS, .units = units};
    kr_status status = names && units ? KR_OK : no_memory(err);
    for (uint32_t c = 0; status == KR_OK && c < of->n_columns; ++c) {
        names[c] = made->columns[c].name ? made->columns[c].name : "";
        units[c] = made->columns[c].unit;
        if (!*names[c])
            status =
                fail(err, KR_ERR_ARGUMENT, "field %u of the struct has no name: write {a: a, b: b}", c + 1);
    }
    if (status == KR_OK)
        status = kr_table_create(made->on->device, of->spec, views, names, of->n_columns, &options, NULL,
                                 &made->table, err);
    free(names);
    free(units);
    return status;
}

/* Puts all columns in the order of rows, so that rows which are positions need not be kept, and scans give
 * them as they ascend. */
static kr_status sort_rows(builder *of, order *found, kr_error *err)
{
    uint32_t *from = malloc((of->rows.count + 1) * sizeof *from);
    kr_status status = !from                   ? no_memory(err)
                       : *found == ORDER_SMALL ? small_ranks_of(&of->rows, from, err)
                                               : ranks_of(&of->rows, from, err);
    if (status == KR_OK)
        status = column_reorder(&of->rows, from, err);
    for (uint32_t c = 0; status == KR_OK && c < of->n_columns; ++c)
        status = column_reorder(of->columns + c, from, err);
    free(from);
    return status == KR_OK ? order_of(&of->rows, found, err) : status;
}

kr_status builder_make_table(builder *of, registry *in, int replace, uint64_t *n_rows, kr_error *err)
{
    if (!of->is_struct || !of->n_columns)
        return fail(
            err, KR_ERR_TYPE,
            "the columns of a table are the fields of a struct: keyray_table('t', rowid, {a: a, b: b})");
    order found = ORDER_ANY;
    kr_status status = of->rows.count < KR_NO_ROW
                           ? order_of(&of->rows, &found, err)
                           : fail(err, KR_ERR_LIMIT, "an index or a table has at most 2^32 - 2 rows");
    if (status == KR_OK && (found == ORDER_SMALL || found == ORDER_ANY))
        status = sort_rows(of, &found, err);
    if (status != KR_OK)
        return status;
    kr_column *views = calloc(of->n_columns, sizeof *views);
    item *made = views ? begin_item(of, ITEM_TABLE, views) : NULL;
    status = made && made->name && made->source ? KR_OK : no_memory(err);
    if (status == KR_OK && found != ORDER_POSITIONS) {
        made->rows = of->rows.data; /* row ids of a table are positions */
        of->rows.data = NULL;
    }
    if (status == KR_OK)
        status = registry_device(in, 1, &made->on, err);
    if (status == KR_OK)
        status = create_table(of, made, views, err);
    *n_rows = of->rows.count;
    if (status == KR_OK)
        status = registry_add(in, made, replace, err);
    free(views);
    if (status != KR_OK && made)
        item_free(in, made);
    return status;
}
