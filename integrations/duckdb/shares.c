/* The type keyray_share, whose values are the address of a share: see share.h. */
#include "functions.h"

#include "share.h"

static kr_status find_table(registry *of, const char *name, size_t nbytes, shared_table *found, kr_error *err)
{
    item *held = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    kr_status status = registry_find(of, (span){name, nbytes}, ITEM_TABLE, &held, err);
    if (status == KR_OK)
        status = kr_device_query(held->on->device, &info, err);
    if (status != KR_OK) {
        item_leave(of, held);
        return status;
    }
    *found = (shared_table){.item = held,
                            .table = held->table,
                            .device = held->on->device,
                            .is_cpu = !strcmp(info.name, "cpu"),
                            .n_columns = held->n_columns,
                            .rows = held->rows};
    return KR_OK;
}

static void leave_table(registry *of, shared_table *left)
{
    item_leave(of, (item *)left->item);
    *left = (shared_table){0};
}

static kr_status describe(const shared_table *of, uint32_t at, shared_column *described, kr_error *err)
{
    const column_type *type = &of->item->columns[at];
    *described = (shared_column){.sql = sql_name(type->sql), .type = type->type, .unit = type->unit};
    return kr_table_column(of->table, at, &described->name, NULL, NULL, err);
}

/* Stays as long as the registry. NULL: no memory. */
static const share *share_of(registry *in)
{
    pthread_mutex_lock(&in->mutex);
    if (!in->shared && (in->shared = calloc(1, sizeof *in->shared)))
        *in->shared = (share){.magic = SHARE_MAGIC,
                              .struct_size = sizeof(share),
                              .in = in,
                              .table_find = find_table,
                              .table_leave = leave_table,
                              .table_describe = describe,
                              .condition_compare = kr_condition_compare,
                              .condition_compare_columns = kr_condition_compare_columns,
                              .condition_and = kr_condition_and,
                              .condition_or = kr_condition_or,
                              .condition_not = kr_condition_not,
                              .condition_destroy = kr_condition_destroy,
                              .scan = kr_scan,
                              .scan_explain = kr_scan_explain,
                              .table_query = kr_table_query,
                              .table_column = kr_table_column,
                              .table_texts = kr_table_texts,
                              .texts_decode = kr_texts_decode,
                              .type_nbytes = kr_type_nbytes,
                              .memory_copy = kr_memory_copy};
    pthread_mutex_unlock(&in->mutex);
    return in->shared;
}

static bool cast(duckdb_function_info info, idx_t count, duckdb_vector input, duckdb_vector output)
{
    uint64_t *out = duckdb_vector_get_data(output);
    const share *made = share_of(duckdb_cast_function_get_extra_info(info));
    (void)input;
    if (!made)
        duckdb_cast_function_set_error(info, "keyray_share needs memory, which there is not");
    for (idx_t i = 0; i < count; ++i)
        out[i] = (uint64_t)(uintptr_t)made;
    return made != NULL;
}

void register_share(registering *job)
{
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type type = duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT);
    duckdb_cast_function function = duckdb_create_cast_function();
    duckdb_logical_type_set_alias(type, SHARE_TYPE);
    duckdb_cast_function_set_source_type(function, text);
    duckdb_cast_function_set_target_type(function, type);
    duckdb_cast_function_set_function(function, cast);
    duckdb_cast_function_set_extra_info(function, registry_hold(job->with), registry_release);
    if (duckdb_register_logical_type(job->connection, type, NULL) != DuckDBSuccess ||
        duckdb_register_cast_function(job->connection, function) != DuckDBSuccess)
        job->failed = SHARE_TYPE;
    duckdb_destroy_cast_function(&function);
    duckdb_destroy_logical_type(&type);
    duckdb_destroy_logical_type(&text);
}
