/* keyray_scan: the rows of a table for which a condition holds; keyray_read: a saved table. */
#include "arguments.h"
#include "saved.h"
#include "values.h"

typedef struct asking {
    registry *in;
    char *name, *condition; /* keyray_read: a path, and no condition */
    item *read;             /* what keyray_read opened */
} asking;

/* Row ids below it that a bitmap selects. */
typedef struct selection {
    uint32_t *bits; /* NULL: all */
    uint64_t n_rows;
    _Atomic uint64_t next; /* the first block that no thread has taken */
} selection;

typedef struct running {
    registry *in;
    item *of;
    selection selected;
    uint32_t n_columns, *columns; /* those asked for, of the table */
    value_column *values;
} running;

/* Where a thread is: in the rows from `at` to before `end`. */
typedef struct worker {
    uint64_t at, end;
} worker;

enum { PIECE = 2048, BLOCK = 1 << 16 };

static void asking_free(void *freed)
{
    asking *of = freed;
    item_leave(of->in, of->read);
    registry_release(of->in);
    free(of->name);
    free(of->condition);
    free(of);
}

static void running_free(void *freed)
{
    running *of = freed;
    for (uint32_t c = 0; of->values && c < of->n_columns; ++c)
        value_column_close(of->values + c);
    item_leave(of->in, of->of);
    registry_release(of->in);
    free(of->values);
    free(of->columns);
    free(of->selected.bits);
    free(of);
}

/* ---- What satisfies a condition --------------------------------------------------------------- */

static kr_status scan(kr_table *table, const kr_condition *condition, kr_scan_result result, void *out,
                      kr_error *err)
{
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = result, .out = out};
    const kr_scan_sink *sinks[] = {&sink};
    const kr_condition *conditions[] = {condition};
    return kr_scan(table, conditions, sinks, 1, NULL, NULL, err);
}

static kr_status select_rows(kr_table *table, const kr_condition *condition, selection *selected,
                             kr_error *err)
{
    kr_table_info info = {.struct_size = sizeof info};
    kr_status status = kr_table_query(table, &info, err);
    selected->n_rows = info.rows;
    if (status != KR_OK || (!condition && info.alive_rows == info.rows))
        return status;
    selected->bits = malloc((info.rows + 31) / 32 * sizeof *selected->bits + sizeof *selected->bits);
    if (!selected->bits)
        return fail(err, KR_ERR_HOST_MEMORY, "%llu rows need a bitmap, for which there is no memory",
                    (unsigned long long)info.rows);
    return scan(table, condition, KR_SCAN_BITMAP, selected->bits, err);
}

/* The next block of rows; 0: there is none. */
static int take_block(selection *of, worker *by)
{
    const uint64_t first = BLOCK * of->next++;
    if (first >= of->n_rows)
        return 0;
    by->at = first;
    by->end = of->n_rows - first < BLOCK ? of->n_rows : first + BLOCK;
    return 1;
}

/* The ids of up to `room` rows that are selected. */
static idx_t next_rows(selection *of, worker *by, uint32_t *rows, idx_t room)
{
    idx_t n = 0;
    while (n < room && (by->at < by->end || take_block(of, by))) {
        if (!of->bits) {
            while (by->at < by->end && n < room)
                rows[n++] = (uint32_t)by->at++;
            continue;
        }
        uint32_t word = of->bits[by->at / 32] >> by->at % 32;
        uint64_t at = by->at;
        for (; word && n < room; word &= word - 1)
            rows[n++] = (uint32_t)(at + (uint64_t)__builtin_ctz(word));
        by->at = word ? at + (uint64_t)__builtin_ctz(word) : (at / 32 + 1) * 32;
    }
    return n;
}

static void init_local(duckdb_init_info info)
{
    worker *made = init_memory(info, sizeof *made, "keyray_scan");
    if (made)
        duckdb_init_set_init_data(info, made, free);
}

/* ---- keyray_scan ------------------------------------------------------------------------------ */

static void bind_scan(duckdb_bind_info info)
{
    asking *made = bind_memory(info, sizeof *made, "keyray_scan");
    if (!made)
        return;
    made->in = registry_hold(duckdb_bind_get_extra_info(info));
    made->name = argument_at(info, 0, "the table");
    made->condition = argument_at(info, 1, "the condition");
    add_column(info, "row", DUCKDB_TYPE_BIGINT);
    duckdb_bind_set_bind_data(info, made, asking_free);
}

/* An empty condition would be true for every row. */
static kr_status parse(const char *text, kr_condition **condition, kr_error *err)
{
    if (!text || !text[strspn(text, " \t\n")])
        return fail(err, KR_ERR_ARGUMENT, "the condition is empty: write one, or 'true' for all rows");
    return kr_condition_parse(text, condition, err);
}

static kr_status run_scan(const asking *what, running *made, kr_error *err)
{
    kr_condition *condition = NULL;
    const char *name = what->name ? what->name : "";
    kr_status status = registry_find(what->in, (span){name, strlen(name)}, ITEM_TABLE, &made->of, err);
    if (status == KR_OK)
        status = parse(what->condition, &condition, err);
    if (status == KR_OK)
        status = select_rows(made->of->table, condition, &made->selected, err);
    kr_condition_destroy(condition);
    return status;
}

/* As many threads as the device of the table has, which are DuckDB's. */
static void share_out(duckdb_init_info info, running *made)
{
    kr_error ignored = {0};
    kr_device_info device = {.struct_size = sizeof device};
    if (kr_device_query(made->of->on->device, &device, &ignored) == KR_OK && !strcmp(device.name, "cpu"))
        duckdb_init_set_max_threads(info, device.units);
    duckdb_init_set_init_data(info, made, running_free);
}

/* The columns that a query wants; virtual ones are none of the table's. */
static kr_status take_columns(duckdb_init_info info, running *made, uint32_t most, kr_error *err)
{
    const idx_t n = duckdb_init_get_column_count(info);
    made->columns = calloc(n + 1, sizeof *made->columns);
    if (!made->columns)
        return fail(err, KR_ERR_HOST_MEMORY, "a scan needs memory, which there is not");
    for (idx_t i = 0; i < n; ++i) {
        const idx_t wanted = duckdb_init_get_column_index(info, i);
        made->columns[i] = wanted < most ? (uint32_t)wanted : UINT32_MAX;
    }
    made->n_columns = (uint32_t)n;
    return KR_OK;
}

static void init_scan(duckdb_init_info info)
{
    const asking *what = duckdb_init_get_bind_data(info);
    kr_error err = {0};
    running *made = init_memory(info, sizeof *made, "keyray_scan");
    if (!made)
        return;
    made->in = registry_hold(what->in); /* what the query was bound to may go first */
    kr_status status = take_columns(info, made, 1, &err);
    if (status == KR_OK)
        status = run_scan(what, made, &err);
    if (status != KR_OK) {
        refuse_init(info, "keyray_scan", &err);
        running_free(made);
        return;
    }
    share_out(info, made);
}

static void call_scan(duckdb_function_info info, duckdb_data_chunk output)
{
    running *of = duckdb_function_get_init_data(info);
    uint32_t rows[PIECE];
    const idx_t n = next_rows(&of->selected, duckdb_function_get_local_init_data(info), rows, PIECE);
    const int64_t *kept = of->of->rows;
    for (uint32_t c = 0; c < of->n_columns; ++c) {
        if (of->columns[c] == UINT32_MAX)
            continue;
        int64_t *out = duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, c));
        for (idx_t i = 0; i < n; ++i)
            out[i] = kept ? kept[rows[i]] : (int64_t)rows[i];
    }
    duckdb_data_chunk_set_size(output, n);
}

/* keyray_scan_count: for each row of names and conditions how many rows of the table satisfy it. */
static void call_count(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    registry *in = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector names = duckdb_data_chunk_get_vector(input, 0),
                  texts = duckdb_data_chunk_get_vector(input, 1);
    uint64_t *counts = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < duckdb_data_chunk_get_size(input); ++i) {
        kr_error err = {0};
        char message[MESSAGE_NBYTES];
        item *of = NULL;
        kr_condition *condition = NULL;
        if (is_null(names, i) || is_null(texts, i)) {
            set_null(output, i);
            continue;
        }
        char *text = NULL;
        kr_status status = take_text(text_at(texts, i), "the condition", &text, &err);
        if (status == KR_OK)
            status = registry_find(in, text_at(names, i), ITEM_TABLE, &of, &err);
        if (status == KR_OK)
            status = parse(text, &condition, &err);
        if (status == KR_OK)
            status = scan(of->table, condition, KR_SCAN_COUNT, counts + i, &err);
        kr_condition_destroy(condition);
        item_leave(in, of);
        free(text);
        if (status != KR_OK) {
            put_message(message, "keyray_scan_count", &err);
            duckdb_scalar_function_set_error(info, message);
            return;
        }
    }
}

/* ---- keyray_read ------------------------------------------------------------------------------ */

static void bind_read(duckdb_bind_info info)
{
    kr_error err = {0};
    asking *made = bind_memory(info, sizeof *made, "keyray_read");
    if (!made)
        return;
    made->in = registry_hold(duckdb_bind_get_extra_info(info));
    made->name = argument_at(info, 0, "the file");
    kr_status status = made->name
                           ? saved_load(made->in, made->name, made->name, &made->read, &err)
                           : fail(&err, KR_ERR_ARGUMENT, "the file is NULL (name it), or there is no memory");
    if (status == KR_OK && made->read->kind != ITEM_TABLE)
        status = fail(&err, KR_ERR_TYPE, "%s holds an index: SELECT keyray_load('ix', '%s') opens it",
                      made->name, made->name);
    if (status != KR_OK) {
        refuse_bind(info, "keyray_read", &err);
        asking_free(made);
        return;
    }
    for (uint32_t c = 0; c < made->read->n_columns; ++c)
        add_column(info, made->read->columns[c].name, made->read->columns[c].sql);
    duckdb_bind_set_cardinality(info, made->read->n_rows, false);
    duckdb_bind_set_bind_data(info, made, asking_free);
}

static kr_status open_values(running *made, kr_error *err)
{
    kr_status status = select_rows(made->of->table, NULL, &made->selected, err);
    made->values = calloc(made->n_columns + 1, sizeof *made->values);
    if (status == KR_OK && !made->values)
        status = fail(err, KR_ERR_HOST_MEMORY, "a scan needs memory, which there is not");
    for (uint32_t c = 0; status == KR_OK && c < made->n_columns; ++c)
        if (made->columns[c] != UINT32_MAX)
            status = value_column_open(made->values + c, made->of, made->columns[c], err);
    return status;
}

static void init_read(duckdb_init_info info)
{
    const asking *what = duckdb_init_get_bind_data(info);
    kr_error err = {0};
    running *made = init_memory(info, sizeof *made, "keyray_read");
    if (!made)
        return;
    made->in = registry_hold(what->in); /* what the query was bound to may go first */
    made->of = item_hold(what->in, what->read);
    kr_status status = take_columns(info, made, made->of->n_columns, &err);
    if (status == KR_OK)
        status = open_values(made, &err);
    if (status != KR_OK) {
        refuse_init(info, "keyray_read", &err);
        running_free(made);
        return;
    }
    share_out(info, made);
}

static void call_read(duckdb_function_info info, duckdb_data_chunk output)
{
    running *of = duckdb_function_get_init_data(info);
    uint32_t rows[PIECE];
    const idx_t n = next_rows(&of->selected, duckdb_function_get_local_init_data(info), rows, PIECE);
    for (uint32_t c = 0; n && c < of->n_columns; ++c) {
        kr_error err = {0};
        if (of->columns[c] != UINT32_MAX &&
            value_column_write(of->values + c, rows, n, duckdb_data_chunk_get_vector(output, c), &err) !=
                KR_OK) {
            refuse_call(info, "keyray_read", &err);
            return;
        }
    }
    duckdb_data_chunk_set_size(output, n);
}

/* ---- Registering ------------------------------------------------------------------------------ */

static void replace(duckdb_replacement_scan_info info, const char *name, void *data)
{
    const size_t n = strlen(name);
    (void)data;
    if (n < 5 || strcmp(name + n - 4, ".krx"))
        return;
    duckdb_value path = duckdb_create_varchar(name);
    duckdb_replacement_scan_set_function_name(info, "keyray_read");
    duckdb_replacement_scan_add_parameter(info, path);
    duckdb_destroy_value(&path);
}

void register_replacement(duckdb_database database, registry *with)
{
    (void)with;
    duckdb_add_replacement_scan(database, replace, NULL, NULL);
}

void register_scans(registering *job)
{
    static const table_function functions[] = {
        {"keyray_scan",
         {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR},
         {{NULL, 0}},
         bind_scan,
         init_scan,
         init_local,
         call_scan,
         1},
        {"keyray_read", {DUCKDB_TYPE_VARCHAR}, {{NULL, 0}}, bind_read, init_read, init_local, call_read, 1}};
    static const scalar counts[] = {{"keyray_scan_count", "tt", DUCKDB_TYPE_BIGINT, call_count}};
    register_table_functions(job, functions, sizeof functions / sizeof *functions);
    register_scalars(job, counts, 1);
}
