/* keyray_build, keyray_rebuild, keyray_table, keyray_replace_table, keyray_stale. */
#include "build.h"
#include "functions.h"

/* An aggregate's place in memory: what it has collected so far. */
typedef struct state {
    builder *builder;
    int is_made; /* it has answered, and has no rows any more */
} state;

/* Of keyray_build and the like; of keyray_table and the like. */
static const arguments of_keys = {.key = 1, .row = 2, .spec = -1, .value = -1};
static const arguments of_columns = {.key = 2, .row = 1, .spec = -1, .value = -1};

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(state);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state made)
{
    (void)info;
    memset(made, 0, sizeof(state));
}

static void state_destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; ++i) {
        state *of = (state *)states[i];
        builder_free(of->builder);
        of->builder = NULL;
    }
}

static void refuse(duckdb_function_info info, const char *who, const kr_error *err)
{
    char message[MESSAGE_NBYTES];
    put_message(message, who, err);
    duckdb_aggregate_function_set_error(info, message);
}

/* A window asks a state again after it has answered. */
static kr_status check_open(const state *of, kr_error *err)
{
    return of->is_made ? fail(err, KR_ERR_UNSUPPORTED, "it makes one thing of all rows: leave OVER (...) out")
                       : KR_OK;
}

/* Rows of one state are taken together. */
static void take(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states,
                 const arguments *first)
{
    const idx_t n = duckdb_data_chunk_get_size(input);
    const idx_t columns = duckdb_data_chunk_get_column_count(input);
    const arguments at = {
        .key = first->key, .row = first->row, .spec = columns > 3 ? 3 : -1, .value = columns > 4 ? 4 : -1};
    for (idx_t i = 0, end; i < n; i = end) {
        kr_error err = {0};
        for (end = i + 1; end < n && states[end] == states[i]; ++end)
            ;
        state *of = (state *)states[i];
        if (check_open(of, &err) != KR_OK ||
            builder_take(&of->builder, input, &at, i, end - i, &err) != KR_OK) {
            refuse(info, "keyray", &err);
            return;
        }
    }
}

static void take_keys(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    take(info, input, states, &of_keys);
}

static void take_columns(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    take(info, input, states, &of_columns);
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *from, duckdb_aggregate_state *into,
                    idx_t count)
{
    for (idx_t i = 0; i < count; ++i) {
        kr_error err = {0};
        if (builder_combine(&((state *)into[i])->builder, ((state *)from[i])->builder, &err) != KR_OK) {
            refuse(info, "keyray", &err);
            return;
        }
    }
}

/* ---- Ends ------------------------------------------------------------------------------------- */

typedef kr_status (*make)(builder *of, registry *in, int replace, uint64_t *n_rows, kr_error *err);

/* No two of these states make the same name. */
static kr_status check_names(duckdb_aggregate_state *states, idx_t count, kr_error *err)
{
    for (idx_t i = 0; i < count; ++i)
        for (idx_t j = 0; j < i; ++j) {
            const builder *one = ((state *)states[i])->builder, *other = ((state *)states[j])->builder;
            if (one && other && !strcmp(one->name, other->name))
                return fail(err, KR_ERR_ARGUMENT,
                            "two groups make '%s': GROUP BY the name, or leave GROUP BY and OVER out",
                            one->name);
        }
    return KR_OK;
}

static void make_all(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result,
                     idx_t count, idx_t offset, make one, int replace, const char *who)
{
    registry *in = duckdb_aggregate_function_get_extra_info(info);
    int64_t *rows = duckdb_vector_get_data(result);
    kr_error err = {0};
    kr_status status = check_names(states, count, &err);
    for (idx_t i = 0; status == KR_OK && i < count; ++i) {
        state *ended = (state *)states[i];
        builder *of = ended->builder;
        uint64_t n = 0;
        status = check_open(ended, &err);
        if (status == KR_OK)
            status =
                of ? one(of, in, replace, &n, &err)
                   : fail(&err, KR_ERR_ARGUMENT,
                          "there were no rows, so that neither name nor type are known; nothing was made");
        rows[offset + i] = (int64_t)n;
        builder_free(of);
        *ended = (state){.is_made = 1};
    }
    if (status != KR_OK)
        refuse(info, who, &err);
}

static void end_build(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result,
                      idx_t count, idx_t offset)
{
    make_all(info, states, result, count, offset, builder_make_index, 0, "keyray_build");
}

static void end_rebuild(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result,
                        idx_t count, idx_t offset)
{
    make_all(info, states, result, count, offset, builder_make_index, 1, "keyray_rebuild");
}

static void end_table(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result,
                      idx_t count, idx_t offset)
{
    make_all(info, states, result, count, offset, builder_make_table, 0, "keyray_table");
}

static void end_replace_table(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result,
                              idx_t count, idx_t offset)
{
    make_all(info, states, result, count, offset, builder_make_table, 1, "keyray_replace_table");
}

/* Whether an index holds other keys and rows than those that were seen. */
static kr_status compare(builder *of, registry *in, int *differs, kr_error *err)
{
    item *found = NULL;
    kr_status status = registry_find(in, (span){of->name, strlen(of->name)}, ITEM_INDEX, &found, err);
    if (status != KR_OK)
        return status;
    if (found->n_columns != of->n_columns)
        status = fail(err, KR_ERR_TYPE, "keys of '%s' have %u columns, these have %u", of->name,
                      found->n_columns, of->n_columns);
    for (uint32_t c = 0; status == KR_OK && c < of->n_columns; ++c)
        if (found->columns[c].sql != of->columns[c].type.sql)
            status = fail(err, KR_ERR_TYPE, "keys of '%s' are %s, these are %s: write CAST(... AS %s)",
                          of->name, sql_name(found->columns[c].sql), sql_name(of->columns[c].type.sql),
                          sql_name(found->columns[c].sql));
    if (status == KR_OK && !found->holds.n && found->n_rows)
        status = fail(err, KR_ERR_UNSUPPORTED,
                      "'%s' came from a file of another program, which does not say of "
                      "which rows: build it here",
                      of->name);
    const contents seen = builder_contents(of);
    *differs = memcmp(&seen, &found->holds, sizeof seen) != 0;
    item_leave(in, found);
    return status;
}

static void end_stale(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result,
                      idx_t count, idx_t offset)
{
    bool *differ = duckdb_vector_get_data(result);
    for (idx_t i = 0; i < count; ++i) {
        builder *of = ((state *)states[i])->builder;
        kr_error err = {0};
        int differs = 0;
        if (!of) { /* a table without rows: of which index is not known */
            set_null(result, offset + i);
            continue;
        }
        if (compare(of, duckdb_aggregate_function_get_extra_info(info), &differs, &err) != KR_OK) {
            refuse(info, "keyray_stale", &err);
            return;
        }
        differ[offset + i] = differs != 0;
    }
}

/* ---- Registering ------------------------------------------------------------------------------ */

static void add(registering *job, duckdb_aggregate_function_set set, const aggregate *of, duckdb_type returns)
{
    duckdb_aggregate_function function = duckdb_create_aggregate_function();
    duckdb_logical_type returned = duckdb_create_logical_type(returns);
    duckdb_aggregate_function_set_name(function, of->name);
    for (uint32_t i = 0; of->parameters[i] != DUCKDB_TYPE_INVALID; ++i) {
        duckdb_logical_type type = duckdb_create_logical_type(of->parameters[i]);
        duckdb_aggregate_function_add_parameter(function, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_aggregate_function_set_return_type(function, returned);
    duckdb_aggregate_function_set_functions(function, state_size, state_init, of->update, combine,
                                            of->finalize);
    duckdb_aggregate_function_set_destructor(function, state_destroy);
    duckdb_aggregate_function_set_special_handling(function);
    duckdb_aggregate_function_set_extra_info(function, registry_hold(job->with), registry_release);
    duckdb_add_aggregate_function_to_set(set, function);
    duckdb_destroy_aggregate_function(&function);
    duckdb_destroy_logical_type(&returned);
}

/* Neighbours of one name are one set. */
static void add_all(registering *job, const aggregate *functions, uint32_t n, duckdb_type returns)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set(functions[i].name);
        for (end = i; end < n && !strcmp(functions[end].name, functions[i].name); ++end)
            add(job, set, functions + end, returns);
        if (duckdb_register_aggregate_function_set(job->connection, set) != DuckDBSuccess)
            job->failed = functions[i].name;
        duckdb_destroy_aggregate_function_set(&set);
    }
}

#define TEXT DUCKDB_TYPE_VARCHAR
#define ANY DUCKDB_TYPE_ANY
#define ROW DUCKDB_TYPE_BIGINT

void register_builds(registering *job)
{
    static const aggregate builds[] = {
        {"keyray_build", {TEXT, ANY, ROW}, take_keys, end_build},
        {"keyray_build", {TEXT, ANY, ROW, TEXT}, take_keys, end_build},
        {"keyray_build", {TEXT, ANY, ROW, TEXT, DUCKDB_TYPE_BIGINT}, take_keys, end_build},
        {"keyray_build", {TEXT, ANY, ROW, TEXT, DUCKDB_TYPE_DOUBLE}, take_keys, end_build},
        {"keyray_rebuild", {TEXT, ANY, ROW}, take_keys, end_rebuild},
        {"keyray_rebuild", {TEXT, ANY, ROW, TEXT}, take_keys, end_rebuild},
        {"keyray_rebuild", {TEXT, ANY, ROW, TEXT, DUCKDB_TYPE_BIGINT}, take_keys, end_rebuild},
        {"keyray_rebuild", {TEXT, ANY, ROW, TEXT, DUCKDB_TYPE_DOUBLE}, take_keys, end_rebuild},
        {"keyray_table", {TEXT, ROW, ANY}, take_columns, end_table},
        {"keyray_table", {TEXT, ROW, ANY, TEXT}, take_columns, end_table},
        {"keyray_replace_table", {TEXT, ROW, ANY}, take_columns, end_replace_table},
        {"keyray_replace_table", {TEXT, ROW, ANY, TEXT}, take_columns, end_replace_table}};
    static const aggregate checks[] = {{"keyray_stale", {TEXT, ANY, ROW}, take_keys, end_stale}};
    add_all(job, builds, sizeof builds / sizeof *builds, DUCKDB_TYPE_BIGINT);
    add_all(job, checks, 1, DUCKDB_TYPE_BOOLEAN);
}
