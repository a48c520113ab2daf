/* keyray_where('t') in a plan: what it returns, and which predicates it takes. */
#include "where.h"

#include <stdarg.h>

void refuse(duckdb_v2_error_info_handle *to, DUCKDB_V2_ERROR code, const char *text, ...)
{
    char message[sizeof((kr_error *)0)->text + 64];
    va_list list;
    va_start(list, text);
    vsnprintf(message, sizeof message, text, list);
    va_end(list);
    const duckdb_v2_str view = {message, strlen(message)};
    duckdb_v2_error_info_set_code(*to, code);
    duckdb_v2_error_info_set_text(*to, &view);
}

/* ---- Life ------------------------------------------------------------------------------------- */

static void asking_free(void *freed)
{
    asking *of = freed;
    shared_state *state = of->state;
    pthread_mutex_lock(&state->mutex);
    if (of->before)
        of->before->next = of->next;
    else if (state->first == of)
        state->first = of->next;
    if (of->next)
        of->next->before = of->before;
    pthread_mutex_unlock(&state->mutex);
    for (uint32_t i = 0; i < of->n_conditions; ++i)
        state->with->condition_destroy(of->conditions[i]);
    for (uint32_t c = 0; of->columns && c < of->n_columns; ++c)
        free(of->columns[c].name);
    free(of->conditions);
    free(of->columns);
    free(of->name);
    free(of);
}

/* A call that is bound and has the same ticket; NULL: there is none. Under the mutex. */
static const asking *twin_of(const asking *of)
{
    const asking *other = of->state->first;
    while (other && (other == of || other->ticket != of->ticket))
        other = other->next;
    return other;
}

/* The conditions of a twin. */
static int inherit(asking *to, const asking *from)
{
    kr_error err = {0};
    to->conditions = calloc(from->n_conditions + 1, sizeof *to->conditions);
    int goes = to->conditions != NULL;
    for (uint32_t i = 0; goes && i < from->n_conditions; ++i) {
        const kr_condition *one[] = {from->conditions[i]};
        goes = to->state->with->condition_and(one, 1, to->conditions + i, &err) == KR_OK;
        to->n_conditions += (uint32_t)goes;
    }
    return goes;
}

/* Adds a call to those that are bound. 0: no memory, or a ticket given by hand.
 *
 * DuckDB's optimizer copies a scan by binding its arguments again, but predicates that the scan has taken are
 * not among them, and DuckDB no longer looks at these. It also takes two scans of the same arguments for one.
 * So each call has an argument of its own, a ticket, which copies have, too: a copy takes over the conditions
 * of its twin, and twins take no further predicates. So scans of one ticket are the same. */
static int enter(asking *of)
{
    shared_state *state = of->state;
    pthread_mutex_lock(&state->mutex);
    const asking *twin = twin_of(of);
    const int goes =
        is_ticket(state, of->ticket) && (!twin || (!strcmp(twin->name, of->name) && inherit(of, twin)));
    if (goes) {
        of->next = state->first;
        if (of->next)
            of->next->before = of;
        state->first = of;
    }
    pthread_mutex_unlock(&state->mutex);
    return goes;
}

/* ---- Arguments -------------------------------------------------------------------------------- */

/* A copy of the name of the table; NULL: it is NULL. */
static char *name_argument(duckdb_v2_function_bind_info_handle info)
{
    duckdb_v2_value_handle value = NULL;
    duckdb_v2_str text = {NULL, 0};
    bool is_null = true;
    char *made = NULL;
    if (!duckdb_v2_function_bind_get_arg_value(info, 0, &value, NULL) &&
        !duckdb_v2_value_is_null(value, &is_null, NULL) && !is_null &&
        !duckdb_v2_value_get_varchar(value, &text, NULL) && (made = calloc(text.len + 1, 1)))
        memcpy(made, text.ptr, text.len);
    duckdb_v2_value_destroy(&value);
    return made;
}

/* 0: it was given as NULL, or not at all. */
static uint64_t ticket_argument(duckdb_v2_function_bind_info_handle info)
{
    duckdb_v2_value_handle value = NULL;
    bool is_null = true;
    uint64_t ticket = 0;
    if (!duckdb_v2_function_bind_get_arg_value(info, 1, &value, NULL) &&
        !duckdb_v2_value_is_null(value, &is_null, NULL) && !is_null)
        duckdb_v2_value_get_ubigint(value, &ticket, NULL);
    duckdb_v2_value_destroy(&value);
    return ticket;
}

/* ---- Columns ---------------------------------------------------------------------------------- */

static kr_status no_memory(kr_error *err)
{
    return fail(err, KR_ERR_HOST_MEMORY, "a scan needs memory, which there is not");
}

static kr_status add_column(duckdb_v2_table_function_bind_info_handle result,
                            duckdb_v2_factory_handle factory, const char *name, const char *sql,
                            DUCKDB_V2_LOGICAL_TYPE_ID *id, kr_error *err)
{
    duckdb_v2_logical_type_handle type = NULL;
    const duckdb_v2_str sql_text = text_of(sql);
    const duckdb_v2_identifier_t name_text = text_of(name);
    const int failed = duckdb_v2_factory_create_type_from_text(factory, &sql_text, &type, NULL) ||
                       duckdb_v2_logical_type_get_id(type, id, NULL) ||
                       duckdb_v2_table_function_bind_add_result_column(result, &name_text, type, NULL);
    duckdb_v2_logical_type_destroy(&type);
    return failed ? fail(err, KR_ERR_TYPE, "DuckDB refused the column \"%s\" of type %s", name, sql) : KR_OK;
}

/* "row", or with as many underlines as it takes to differ from the table's names. */
static void name_row(const asking *of, char name[40])
{
    uint32_t c = 1;
    strcpy(name, "row");
    while (c < of->n_columns && strlen(name) < 38)
        if (!strcasecmp(of->columns[c++].name, name)) {
            strcat(name, "_");
            c = 1;
        }
}

static kr_status describe_columns(asking *made, const shared_table *table, kr_error *err)
{
    const share *with = made->state->with;
    made->n_columns = table->n_columns + 1;
    made->columns = calloc(made->n_columns, sizeof *made->columns);
    kr_status status = made->columns ? KR_OK : no_memory(err);
    for (uint32_t c = 0; status == KR_OK && c < table->n_columns; ++c) {
        shared_column of = {0};
        status = with->table_describe(table, c, &of, err);
        made->columns[c + 1] = (asked_column){.name = status == KR_OK ? strdup(of.name) : NULL,
                                              .sql = of.sql,
                                              .type = of.type,
                                              .unit = of.unit,
                                              .column = c};
        if (status == KR_OK && !made->columns[c + 1].name)
            status = no_memory(err);
    }
    return status;
}

static kr_status declare_columns(asking *made, const shared_table *table, duckdb_v2_context_handle context,
                                 duckdb_v2_table_function_bind_info_handle result, kr_error *err)
{
    duckdb_v2_factory_handle factory = NULL;
    char row[40];
    kr_status status = describe_columns(made, table, err);
    if (status == KR_OK && duckdb_v2_context_get_factory(context, &factory, NULL))
        status = fail(err, KR_ERR_UNSUPPORTED, "DuckDB gave no factory of types");
    if (status != KR_OK)
        return status;
    name_row(made, row); /* first: it is what a count reads */
    status = add_column(result, factory, row, "BIGINT", &made->columns[0].id, err);
    for (uint32_t c = 0; status == KR_OK && c < table->n_columns; ++c) {
        asked_column *column = made->columns + c + 1;
        status = add_column(result, factory, column->name, column->sql, &column->id, err);
    }
    return status;
}

int is_column_of(const share *with, const shared_table *table, const asked_column *of)
{
    shared_column now = {0};
    kr_error err = {0};
    return of->column < table->n_columns && with->table_describe(table, of->column, &now, &err) == KR_OK &&
           !strcmp(now.name, of->name) && !strcmp(now.sql, of->sql) && now.type == of->type &&
           now.unit == of->unit;
}

/* ---- Binding ---------------------------------------------------------------------------------- */

static kr_status bind(asking *made, duckdb_v2_context_handle context,
                      duckdb_v2_table_function_bind_info_handle result, kr_error *err)
{
    const share *with = made->state->with;
    shared_table table = {0};
    kr_table_info info = {.struct_size = sizeof info};
    kr_status status = with->table_find(with->in, made->name, strlen(made->name), &table, err);
    if (status != KR_OK)
        return status;
    status = declare_columns(made, &table, context, result, err);
    if (status == KR_OK)
        status = with->table_query(table.table, &info, err);
    if (status == KR_OK) /* not exact: predicates that are taken leave fewer */
        duckdb_v2_table_function_bind_set_cardinality(result, info.alive_rows, false, NULL);
    with->table_leave(with->in, &table);
    return status;
}

void bind_where(duckdb_v2_function_bind_info_handle info, duckdb_v2_table_function_bind_info_handle result,
                duckdb_v2_context_handle context, duckdb_v2_error_info_handle *err)
{
    void *state = NULL;
    kr_error error = {0};
    asking *made = calloc(1, sizeof *made);
    if (!made || duckdb_v2_function_bind_get_user_data(info, &state, NULL)) {
        free(made);
        refuse(err, DUCKDB_V2_ERROR_RESOURCE_OUT_OF_MEMORY, "keyray_where: there is no memory");
        return;
    }
    made->state = state;
    made->ticket = ticket_argument(info);
    made->name = name_argument(info);
    duckdb_v2_opaque opaque = {made, asking_free, NULL};
    if (duckdb_v2_function_bind_set_bind_data(info, &opaque, NULL)) {
        asking_free(made);
        refuse(err, DUCKDB_V2_ERROR_QUERY_BINDER, "keyray_where: DuckDB refused the data of the call");
    } else if (!made->name) {
        refuse(err, DUCKDB_V2_ERROR_QUERY_BINDER, "keyray_where: the table is NULL: name it");
    } else if (!enter(made)) {
        refuse(err, DUCKDB_V2_ERROR_QUERY_BINDER,
               "keyray_where: the ticket is DuckDB's to give, or there is no memory");
    } else if (bind(made, context, result, &error) != KR_OK) {
        refuse(err, DUCKDB_V2_ERROR_QUERY_BINDER, "keyray_where: %s", error.text);
    }
}

/* ---- Predicates ------------------------------------------------------------------------------- */

/* Adds a condition that the table answers, and takes it then. */
static int add_condition(asking *to, const shared_table *table, kr_condition *added)
{
    char text[8];
    kr_error err = {0};
    if (to->state->with->scan_explain(table->table, added, text, sizeof text, &err) != KR_OK)
        return 0;
    pthread_mutex_lock(&to->state->mutex);
    kr_condition **grown =
        twin_of(to) ? NULL : realloc(to->conditions, (to->n_conditions + 1) * sizeof *grown);
    if (grown) {
        to->conditions = grown;
        to->conditions[to->n_conditions++] = added;
    }
    pthread_mutex_unlock(&to->state->mutex);
    return grown != NULL;
}

static void push_one(const translation *of, asking *to, const shared_table *table, idx_t at)
{
    duckdb_v2_expression_handle predicate = NULL;
    kr_condition *condition = NULL;
    if (duckdb_v2_table_function_filter_pushdown_get_filter(of->info, at, &predicate, NULL))
        return;
    const exactness how = translate(of, predicate, &condition);
    if (how == LEFT || !add_condition(to, table, condition)) {
        to->state->with->condition_destroy(condition);
        return;
    }
    if (how == EXACT) /* if it fails, DuckDB looks at the rows, too */
        duckdb_v2_table_function_filter_pushdown_accept(of->info, at, NULL);
}

/* DuckDB counts rows by their first column. Here it still says which columns the query names. */
static void note_row(const translation *of, asking *to)
{
    idx_t n = 0, column = 0;
    to->is_row_unused = !duckdb_v2_table_function_filter_pushdown_get_column_count(of->info, &n, NULL) && n;
    for (idx_t i = 0; i < n; ++i)
        if (duckdb_v2_table_function_filter_pushdown_get_column_index(of->info, i, &column, NULL) || !column)
            to->is_row_unused = 0;
}

/* What goes wrong here leaves predicates to DuckDB. */
void push_where(duckdb_v2_table_function_filter_pushdown_info_handle info, duckdb_v2_context_handle context,
                duckdb_v2_error_info_handle *err)
{
    void *data = NULL;
    idx_t n = 0;
    shared_table table = {0};
    kr_error error = {0};
    (void)context;
    (void)err;
    if (duckdb_v2_table_function_filter_pushdown_get_bind_data(info, &data, NULL) || !data ||
        duckdb_v2_table_function_filter_pushdown_get_filter_count(info, &n, NULL))
        return;
    asking *to = data;
    const share *with = to->state->with;
    const translation of = {to, info};
    if (with->table_find(with->in, to->name, strlen(to->name), &table, &error) != KR_OK)
        return;
    note_row(&of, to);
    for (idx_t i = 0; i < n; ++i)
        push_one(&of, to, &table, i);
    with->table_leave(with->in, &table);
}
