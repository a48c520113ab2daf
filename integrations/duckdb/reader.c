#include "reader.h"

/* A text that grows; is_full: there was no memory. */
typedef struct sql {
    char *text;
    size_t n, room;
    int is_full;
} sql;

static void put(sql *to, const char *text, size_t n)
{
    if (to->n + n + 1 > to->room) {
        char *grown = realloc(to->text, 2 * (to->n + n + 64));
        if (!grown) {
            to->is_full = 1;
            return;
        }
        to->text = grown;
        to->room = 2 * (to->n + n + 64);
    }
    memcpy(to->text + to->n, text, n);
    to->n += n;
    to->text[to->n] = 0;
}

static void put_text(sql *to, const char *text)
{
    put(to, text, strlen(text));
}

/* Where a name ends: at `by` outside of quotes, or at the end. */
static const char *end_of(const char *name, char by)
{
    int quoted = 0;
    for (; *name && (quoted || *name != by); ++name)
        quoted ^= *name == '"';
    return name;
}

/* One name, quoted: nothing in it is SQL. */
static void put_name(sql *to, const char *name, const char *end)
{
    while (name < end && *name == ' ')
        ++name;
    while (end > name && end[-1] == ' ')
        --end;
    const int quoted = end - name >= 2 && *name == '"' && end[-1] == '"';
    put_text(to, "\"");
    for (const char *at = name + quoted; at < end - quoted; ++at) {
        put(to, at, 1);
        if (*at == '"' && !(quoted && at + 1 < end - quoted && at[1] == '"'))
            put_text(to, "\"");
        else if (*at == '"')
            put(to, ++at, 1);
    }
    put_text(to, "\"");
}

/* The names of a list, between commas. Returns how many. */
static uint32_t put_names(sql *to, const char *names, char by)
{
    uint32_t n = 0;
    for (const char *at = names;; ++at) {
        const char *end = end_of(at, by);
        put_text(to, !n ? "" : by == '.' ? "." : ", ");
        put_name(to, at, end);
        ++n;
        at = end;
        if (!*at)
            return n;
    }
}

static kr_status run(registry *with, const reading *what, int as_struct, duckdb_result *result, kr_error *err)
{
    sql text = {0};
    put_text(&text, "SELECT CAST(");
    put_names(&text, what->row, '.');
    put_text(&text, as_struct ? " AS BIGINT), row(" : " AS BIGINT), ");
    put_names(&text, what->columns, ',');
    put_text(&text, as_struct ? ")" : "");
    if (what->last) {
        put_text(&text, ", ");
        put_names(&text, what->last, '.');
    }
    put_text(&text, " FROM ");
    put_names(&text, what->table, '.');
    kr_status status = text.is_full
                           ? fail(err, KR_ERR_HOST_MEMORY, "a query needs memory, which there is not")
                           : registry_query(with, text.text, result, err);
    free(text.text);
    if (status == KR_ERR_ARGUMENT && !strcmp(what->row, "rowid") &&
        strstr(err->text, "Referenced column \"rowid\"")) {
        char before[400];
        snprintf(before, sizeof before, "%.399s", err->text);
        fail(err, status,
             "%s has no rowid, as views have none: name the column that numbers its rows. DuckDB says: %s",
             what->table, before);
    }
    return status;
}

kr_status reader_open(reader *opened, registry *with, const reading *what, kr_error *err)
{
    const int as_struct = what->as_struct || *end_of(what->columns, ',');
    pthread_mutex_init(&opened->mutex, NULL);
    opened->is_open = 1;
    return run(with, what, as_struct, &opened->result, err);
}

duckdb_data_chunk reader_next(reader *of)
{
    pthread_mutex_lock(&of->mutex);
    duckdb_data_chunk chunk = of->is_done ? NULL : duckdb_fetch_chunk(of->result);
    if (chunk && !duckdb_data_chunk_get_size(chunk))
        duckdb_destroy_data_chunk(&chunk);
    of->is_done |= !chunk;
    pthread_mutex_unlock(&of->mutex);
    return chunk;
}

void reader_close(reader *closed)
{
    if (!closed->is_open)
        return;
    duckdb_destroy_result(&closed->result);
    pthread_mutex_destroy(&closed->mutex);
    closed->is_open = 0;
}

kr_status check_row_ids(duckdb_vector rows, idx_t n, const char *table, kr_error *err)
{
    for (idx_t i = 0; duckdb_vector_get_validity(rows) && i < n; ++i)
        if (is_null(rows, i))
            return fail(err, KR_ERR_ARGUMENT, "a row of %s is NULL: name a column without NULLs as its row",
                        table);
    return KR_OK;
}

/* ---- Whole tables ----------------------------------------------------------------------------- */

static kr_status begin_columns(whole *read, duckdb_result *result, const char *table, kr_error *err)
{
    const idx_t n = duckdb_column_count(result);
    if (n - 1 > COLUMNS_MOST)
        return fail(err, KR_ERR_LIMIT, "at most %d columns are read of a table", COLUMNS_MOST);
    for (idx_t c = 0; c < n; ++c) {
        column_type type;
        const kr_status status = column_type_of(duckdb_column_type(result, c), &type, err);
        if (status != KR_OK) {
            char before[400];
            snprintf(before, sizeof before, "%.399s", err->text);
            return fail(err, status, "column %s of %s: %s", duckdb_column_name(result, c), table, before);
        }
        column_init(c ? read->columns + c - 1 : &read->rows, &type);
        read->n_columns = (uint32_t)c;
    }
    return KR_OK;
}

kr_status whole_read(whole *of, registry *with, const reading *what, kr_error *err)
{
    duckdb_result result = {0}; /* destroyed also if there was no memory to ask for it */
    memset(of, 0, sizeof *of);
    kr_status status = run(with, what, 0, &result, err);
    if (status == KR_OK)
        status = begin_columns(of, &result, what->table, err);
    while (status == KR_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        const idx_t n = chunk ? duckdb_data_chunk_get_size(chunk) : 0;
        if (n)
            status = check_row_ids(duckdb_data_chunk_get_vector(chunk, 0), n, what->table, err);
        for (uint32_t c = 0; n && status == KR_OK && c <= of->n_columns; ++c)
            status = column_append(c ? of->columns + c - 1 : &of->rows,
                                   duckdb_data_chunk_get_vector(chunk, c), 0, n, err);
        duckdb_destroy_data_chunk(&chunk);
        if (!n)
            break;
    }
    duckdb_destroy_result(&result);
    return status;
}

void whole_free(whole *freed)
{
    column_free(&freed->rows);
    for (uint32_t c = 0; c < COLUMNS_MOST; ++c)
        column_free(freed->columns + c);
}
