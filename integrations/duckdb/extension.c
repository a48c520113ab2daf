/* The entry point, and how functions are registered. */
#define DUCKDB_EXTENSION_NAME keyray
#include "functions.h"

static duckdb_logical_type make_type(duckdb_type type)
{
    if (type != DUCKDB_TYPE_LIST)
        return duckdb_create_logical_type(type);
    duckdb_logical_type inner = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type made = duckdb_create_list_type(inner);
    duckdb_destroy_logical_type(&inner);
    return made;
}

static void add_parameter(duckdb_scalar_function function, duckdb_type type)
{
    duckdb_logical_type made = make_type(type);
    duckdb_scalar_function_add_parameter(function, made);
    duckdb_destroy_logical_type(&made);
}

static duckdb_scalar_function make_scalar(registering *job, const scalar *of)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type returned = make_type(of->returns);
    duckdb_scalar_function_set_name(function, of->name);
    for (const char *one = of->arguments; *one; ++one)
        add_parameter(function, *one == 'a' ? DUCKDB_TYPE_ANY : DUCKDB_TYPE_VARCHAR);
    duckdb_scalar_function_set_return_type(function, returned);
    duckdb_scalar_function_set_volatile(function);
    duckdb_scalar_function_set_special_handling(function);
    duckdb_scalar_function_set_extra_info(function, registry_hold(job->with), registry_release);
    duckdb_scalar_function_set_function(function, of->call);
    duckdb_destroy_logical_type(&returned);
    return function;
}

/* Neighbours of one name are one set. */
void register_scalars(registering *job, const scalar *functions, uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        duckdb_scalar_function_set set = duckdb_create_scalar_function_set(functions[i].name);
        for (end = i; end < n && !strcmp(functions[end].name, functions[i].name); ++end) {
            duckdb_scalar_function function = make_scalar(job, functions + end);
            duckdb_add_scalar_function_to_set(set, function);
            duckdb_destroy_scalar_function(&function);
        }
        if (duckdb_register_scalar_function_set(job->connection, set) != DuckDBSuccess)
            job->failed = functions[i].name;
        duckdb_destroy_scalar_function_set(&set);
    }
}

static void register_table_function(registering *job, const table_function *of)
{
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_table_function_set_name(function, of->name);
    for (uint32_t i = 0; of->parameters[i] != DUCKDB_TYPE_INVALID; ++i) {
        duckdb_logical_type type = make_type(of->parameters[i]);
        duckdb_table_function_add_parameter(function, type);
        duckdb_destroy_logical_type(&type);
    }
    for (uint32_t i = 0; of->named[i].name; ++i) {
        duckdb_logical_type type = make_type(of->named[i].type);
        duckdb_table_function_add_named_parameter(function, of->named[i].name, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_table_function_set_extra_info(function, registry_hold(job->with), registry_release);
    duckdb_table_function_set_bind(function, of->bind);
    duckdb_table_function_set_init(function, of->init);
    if (of->init_local)
        duckdb_table_function_set_local_init(function, of->init_local);
    duckdb_table_function_set_function(function, of->call);
    duckdb_table_function_supports_projection_pushdown(function, of->projects);
    if (duckdb_register_table_function(job->connection, function) != DuckDBSuccess)
        job->failed = of->name;
    duckdb_destroy_table_function(&function);
}

void register_table_functions(registering *job, const table_function *functions, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        register_table_function(job, functions + i);
}

/* DuckDB looks for it by this name. */
bool keyray_init_c_api(duckdb_extension_info info, struct duckdb_extension_access *access);

/* DuckDB 1.2 serves the same API, but hands over structs whose fields are not flat, which the API cannot see.
 */
static int is_too_old(void)
{
    return !strncmp(duckdb_library_version(), "v1.2.", 5);
}

DUCKDB_EXTENSION_ENTRYPOINT_CUSTOM(duckdb_extension_info info, struct duckdb_extension_access *access)
{
    duckdb_database *database = access->get_database(info);
    duckdb_connection connection = NULL;
    char message[160];
    if (is_too_old()) {
        access->set_error(info, "keyray: DuckDB 1.3 or newer is needed, this is 1.2");
        return false;
    }
    if (!database || duckdb_connect(*database, &connection) != DuckDBSuccess) {
        access->set_error(info, "keyray: DuckDB gave no connection to its database");
        return false;
    }
    registry *with = registry_create(*database);
    if (!with) {
        duckdb_disconnect(&connection);
        access->set_error(info, "keyray: there is no memory for its names");
        return false;
    }
    registering job = {.connection = connection, .with = with};
    register_builds(&job);
    register_lookups(&job);
    register_joins(&job);
    register_overlaps(&job);
    register_scans(&job);
    register_files(&job);
    register_facts(&job);
    register_share(&job);
    register_replacement(*database, with);
    registry_release(with); /* the functions have it */
    duckdb_disconnect(&connection);
    snprintf(message, sizeof message, "keyray: DuckDB refused to register %s", job.failed ? job.failed : "");
    if (job.failed)
        access->set_error(info, message);
    return !job.failed;
}
