/* keyray_indexes, keyray_device, keyray_drop, keyray_close. */
#include "arguments.h"

/* ---- keyray_indexes --------------------------------------------------------------------------- */

/* A line of the list, copied while the registry was locked. */
typedef struct line {
    char *name, *source, *columns;
    const char *kind;
    char spec[KR_SPEC_NBYTES], device[16];
    int64_t rows, nbytes;
} line;

typedef struct listing {
    uint32_t n, at;
    line *lines;
} listing;

static void listing_free(void *freed)
{
    listing *of = freed;
    for (uint32_t i = 0; i < of->n; ++i) {
        free(of->lines[i].name);
        free(of->lines[i].source);
        free(of->lines[i].columns);
    }
    free(of->lines);
    free(of);
}

static void bind_indexes(duckdb_bind_info info)
{
    add_column(info, "name", DUCKDB_TYPE_VARCHAR);
    add_column(info, "what", DUCKDB_TYPE_VARCHAR);
    add_column(info, "columns", DUCKDB_TYPE_VARCHAR);
    add_column(info, "spec", DUCKDB_TYPE_VARCHAR);
    add_column(info, "rows", DUCKDB_TYPE_BIGINT);
    add_column(info, "bytes", DUCKDB_TYPE_BIGINT);
    add_column(info, "device", DUCKDB_TYPE_VARCHAR);
    add_column(info, "source", DUCKDB_TYPE_VARCHAR);
}

/* "symbol VARCHAR, time TIMESTAMP". */
static char *columns_of(const item *of)
{
    size_t n = 1;
    for (uint32_t c = 0; c < of->n_columns; ++c)
        n += (of->columns[c].name ? strlen(of->columns[c].name) : 0) + 32;
    char *made = calloc(n, 1);
    for (uint32_t c = 0; made && c < of->n_columns; ++c) {
        const char *name = of->columns[c].name;
        snprintf(made + strlen(made), n - strlen(made), "%s%s%s%s", c ? ", " : "", name ? name : "",
                 name ? " " : "", sql_name(of->columns[c].sql));
    }
    return made;
}

static void describe(const item *of, line *made)
{
    kr_error ignored = {0};
    kr_index_info index = {.struct_size = sizeof index};
    kr_table_info table = {.struct_size = sizeof table};
    made->name = copy_text((span){of->name, strlen(of->name)});
    made->source = copy_text((span){of->source, strlen(of->source)});
    made->columns = columns_of(of);
    made->kind = of->kind == ITEM_INDEX ? "index" : "table";
    made->nbytes = (int64_t)(of->rows ? of->n_rows * sizeof *of->rows : 0) + (int64_t)of->values.count * 8;
    if (of->kind == ITEM_INDEX && kr_index_query(of->index, &index, &ignored) == KR_OK) {
        snprintf(made->spec, sizeof made->spec, "%s", index.spec);
        memcpy(made->device, index.device, sizeof made->device);
        made->rows = (int64_t)index.rows;
        made->nbytes += (int64_t)index.footprint_nbytes;
    } else if (of->kind == ITEM_TABLE && kr_table_query(of->table, &table, &ignored) == KR_OK) {
        snprintf(made->spec, sizeof made->spec, "%s", table.spec);
        memcpy(made->device, table.device, sizeof made->device);
        made->rows = (int64_t)table.alive_rows;
        made->nbytes += (int64_t)table.footprint_nbytes;
    }
}

static void init_indexes(duckdb_init_info info)
{
    registry *in = duckdb_init_get_extra_info(info);
    listing *made = init_memory(info, sizeof *made, "keyray_indexes");
    if (!made)
        return;
    const kr_error no_memory = {.status = KR_ERR_HOST_MEMORY, .text = "there is no memory for the list"};
    pthread_mutex_lock(&in->mutex);
    made->lines = calloc(in->n_items + 1, sizeof *made->lines);
    for (; made->lines && made->n < in->n_items; ++made->n)
        describe(in->items[made->n], made->lines + made->n);
    pthread_mutex_unlock(&in->mutex);
    if (!made->lines)
        refuse_init(info, "keyray_indexes", &no_memory);
    duckdb_init_set_init_data(info, made, listing_free);
}

static void put(duckdb_data_chunk output, idx_t at, idx_t row, const char *value)
{
    duckdb_vector_assign_string_element(duckdb_data_chunk_get_vector(output, at), row, value ? value : "");
}

static void call_indexes(duckdb_function_info info, duckdb_data_chunk output)
{
    listing *of = duckdb_function_get_init_data(info);
    idx_t n = 0;
    int64_t *rows = duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, 4));
    int64_t *nbytes = duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, 5));
    for (; of->at < of->n && n < duckdb_vector_size(); ++of->at, ++n) {
        const line *one = of->lines + of->at;
        put(output, 0, n, one->name);
        put(output, 1, n, one->kind);
        put(output, 2, n, one->columns);
        put(output, 3, n, one->spec);
        rows[n] = one->rows;
        nbytes[n] = one->nbytes;
        put(output, 6, n, one->device);
        put(output, 7, n, one->source);
    }
    duckdb_data_chunk_set_size(output, n);
}

/* ---- keyray_device ---------------------------------------------------------------------------- */

typedef struct wanted {
    uint64_t limit_nbytes; /* 0: none was given */
    char name[16];
} wanted;

typedef struct opened {
    kr_device_info info;
    int is_done;
} opened;

static void bind_device(duckdb_bind_info info)
{
    kr_error err = {0};
    wanted *made = bind_memory(info, sizeof *made, "keyray_device");
    if (!made)
        return;
    char *name = argument_at(info, 0, "the device"), *limit = argument_named(info, "memory_limit");
    kr_status status =
        name ? KR_OK : fail(&err, KR_ERR_ARGUMENT, "the device is NULL (name it), or there is no memory");
    if (status == KR_OK && strlen(name) >= sizeof made->name)
        status =
            fail(&err, KR_ERR_ARGUMENT, "there is no device '%.40s': write 'cpu', 'cuda' or 'auto'", name);
    if (status == KR_OK && limit && !(made->limit_nbytes = registry_bytes(limit)))
        status = fail(&err, KR_ERR_ARGUMENT, "memory_limit is '%.40s': write a number and a unit, as '4 GiB'",
                      limit);
    if (status == KR_OK)
        snprintf(made->name, sizeof made->name, "%s", name);
    free(name);
    free(limit);
    if (status != KR_OK) {
        free(made);
        refuse_bind(info, "keyray_device", &err);
        return;
    }
    add_column(info, "device", DUCKDB_TYPE_VARCHAR);
    add_column(info, "description", DUCKDB_TYPE_VARCHAR);
    add_column(info, "memory_limit", DUCKDB_TYPE_UBIGINT);
    duckdb_bind_set_bind_data(info, made, free);
}

/* Not while the query is planned: EXPLAIN changes no device, and a prepared statement does each time. */
static void init_device(duckdb_init_info info)
{
    const wanted *what = duckdb_init_get_bind_data(info);
    registry *in = duckdb_init_get_extra_info(info);
    shared_device *device = NULL;
    kr_error err = {0};
    opened *made = init_memory(info, sizeof *made, "keyray_device");
    if (!made)
        return;
    made->info.struct_size = sizeof made->info;
    kr_status status = registry_set_device(in, what->name, what->limit_nbytes, &err);
    if (status == KR_OK)
        status = registry_device(in, 0, &device, &err);
    if (status == KR_OK)
        status = kr_device_query(device->device, &made->info, &err);
    registry_leave_device(in, device);
    if (status != KR_OK)
        refuse_init(info, "keyray_device", &err);
    duckdb_init_set_init_data(info, made, free);
}

static void call_device(duckdb_function_info info, duckdb_data_chunk output)
{
    opened *of = duckdb_function_get_init_data(info);
    if (!of->is_done) {
        put(output, 0, 0, of->info.name);
        put(output, 1, 0, of->info.description);
        *(uint64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, 2)) =
            of->info.memory_cap_nbytes;
    }
    duckdb_data_chunk_set_size(output, !of->is_done);
    of->is_done = 1;
}

/* ---- keyray_drop, keyray_close ---------------------------------------------------------------- */

static void call_drop(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    registry *in = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector names = duckdb_data_chunk_get_vector(input, 0);
    bool *dropped = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < duckdb_data_chunk_get_size(input); ++i) {
        kr_error err = {0};
        char message[MESSAGE_NBYTES];
        if (is_null(names, i)) {
            set_null(output, i);
        } else if (registry_drop(in, text_at(names, i), &err) != KR_OK) {
            put_message(message, "keyray_drop", &err);
            duckdb_scalar_function_set_error(info, message);
            return;
        } else {
            dropped[i] = true;
        }
    }
}

static void call_close(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    registry_close(duckdb_scalar_function_get_extra_info(info));
    for (idx_t i = 0; i < duckdb_data_chunk_get_size(input); ++i)
        ((bool *)duckdb_vector_get_data(output))[i] = true;
}

void register_facts(registering *job)
{
    static const scalar functions[] = {{"keyray_drop", "t", DUCKDB_TYPE_BOOLEAN, call_drop},
                                       {"keyray_close", "", DUCKDB_TYPE_BOOLEAN, call_close}};
    static const table_function tables[] = {{"keyray_indexes",
                                             {DUCKDB_TYPE_INVALID},
                                             {{NULL, 0}},
                                             bind_indexes,
                                             init_indexes,
                                             NULL,
                                             call_indexes,
                                             0},
                                            {"keyray_device",
                                             {DUCKDB_TYPE_VARCHAR},
                                             {{"memory_limit", DUCKDB_TYPE_VARCHAR}},
                                             bind_device,
                                             init_device,
                                             NULL,
                                             call_device,
                                             0}};
    register_scalars(job, functions, 2);
    register_table_functions(job, tables, 2);
}
