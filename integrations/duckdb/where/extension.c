/* The entry point, and what is registered: keyray_where. DuckDB lets no extension add to a function that
 * another one registered by a connection, so it is not one more keyray_scan. */
#define DUCKDB_EXTENSION_NAME keyray_where
#include "where.h"

#include <time.h>

#define TICKET_TYPE "keyray_ticket"

/* What a registration needs, and the first thing that DuckDB refused. */
typedef struct registering {
    duckdb_v2_extension_handle extension;
    duckdb_v2_factory_handle factory;
    duckdb_v2_logical_type_handle text, ticket;
    duckdb_v2_value_handle any_text;
    shared_state *state;
} registering;

/* ---- The other extension ---------------------------------------------------------------------- */

/* It has a type whose values are the address of a share. NULL: it is not loaded, or of another build. */
static const share *find_share(registering *job)
{
    static const char name[] = SHARE_TYPE;
    const duckdb_v2_str text = {name, sizeof name - 1};
    duckdb_v2_logical_type_handle type = NULL;
    duckdb_v2_value_handle value = NULL;
    uint64_t address = 0;
    if (!duckdb_v2_factory_create_type_from_text(job->factory, &text, &type, NULL) &&
        !duckdb_v2_value_cast(job->factory, job->any_text, type, &value, NULL))
        duckdb_v2_value_get_ubigint(value, &address, NULL);
    duckdb_v2_value_destroy(&value);
    duckdb_v2_logical_type_destroy(&type);
    return (const share *)(uintptr_t)address;
}

/* ---- Tickets ---------------------------------------------------------------------------------- */

/* Numbers that nobody comes upon by chance: one for each n, and back. */
static uint64_t mix(uint64_t n)
{
    n = (n ^ n >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    n = (n ^ n >> 27) * UINT64_C(0x94D049BB133111EB);
    return n ^ n >> 31;
}

static uint64_t unmix(uint64_t n)
{
    n = (n ^ n >> 31 ^ n >> 62) * UINT64_C(0x319642B2D24D8EC3);
    n = (n ^ n >> 27 ^ n >> 54) * UINT64_C(0x96DE1B173F119089);
    return n ^ n >> 30 ^ n >> 60;
}

int is_ticket(const shared_state *of, uint64_t ticket)
{
    const uint64_t n = unmix(ticket) - of->secret;
    return n && n <= of->tickets;
}

/* Casts a text, whatever it is, to a number that no other cast gives: see `enter`. */
static void cast_ticket(duckdb_v2_cast_function_exec_info_handle info, duckdb_v2_context_handle context,
                        duckdb_v2_error_info_handle *err)
{
    void *data = NULL, *out = NULL;
    idx_t n = 0;
    duckdb_v2_vector_handle to = NULL;
    (void)context;
    if (duckdb_v2_cast_function_exec_get_user_data(info, &data, NULL) || !data ||
        duckdb_v2_cast_function_exec_get_row_count(info, &n, NULL) ||
        duckdb_v2_cast_function_exec_get_output(info, &to, NULL) || duckdb_v2_vector_set_size(to, n, NULL) ||
        duckdb_v2_vector_get_data_mutable(to, &out, NULL)) {
        refuse(err, DUCKDB_V2_ERROR_TYPE_CONVERSION, "keyray_where: DuckDB gave no memory of a ticket");
        return;
    }
    shared_state *state = data;
    pthread_mutex_lock(&state->mutex);
    for (idx_t i = 0; i < n; ++i)
        ((uint64_t *)out)[i] = mix(state->secret + ++state->tickets);
    pthread_mutex_unlock(&state->mutex);
}

static int register_ticket(registering *job, duckdb_v2_error_info_handle *err)
{
    const duckdb_v2_identifier_t name = text_of(TICKET_TYPE);
    duckdb_v2_logical_type_handle base = NULL;
    duckdb_v2_custom_type_handle type = NULL;
    duckdb_v2_cast_function_handle cast = NULL;
    duckdb_v2_opaque state = {job->state, NULL, NULL};
    const int failed =
        duckdb_v2_factory_create_type_from_id(job->factory, DUCKDB_V2_LOGICAL_TYPE_ID_UBIGINT, NULL, NULL, 0,
                                              &base, err) ||
        duckdb_v2_factory_create_type_with_alias(job->factory, base, &name, &job->ticket, err) ||
        duckdb_v2_custom_type_create(job->factory, &type, err) ||
        duckdb_v2_custom_type_set_name(type, &name, err) ||
        duckdb_v2_custom_type_set_base_type(type, base, err) ||
        duckdb_v2_extension_register_custom_type(job->extension, type, err) ||
        duckdb_v2_cast_function_create(job->factory, &cast, err) ||
        duckdb_v2_cast_function_set_source_type(cast, job->text, err) ||
        duckdb_v2_cast_function_set_target_type(cast, job->ticket, err) ||
        duckdb_v2_cast_function_set_user_data(cast, &state, err) ||
        duckdb_v2_cast_function_set_exec_callback(cast, cast_ticket, err) ||
        duckdb_v2_extension_register_cast_function(job->extension, cast, err);
    duckdb_v2_cast_function_destroy(&cast);
    duckdb_v2_custom_type_destroy(&type);
    duckdb_v2_logical_type_destroy(&base);
    return !failed;
}

/* ---- The function ----------------------------------------------------------------------------- */

static void state_free(void *freed)
{
    shared_state *of = freed;
    pthread_mutex_destroy(&of->mutex);
    free(of);
}

/* The function has the state, and releases it in the end. */
static void register_scan(registering *job, duckdb_v2_error_info_handle *err)
{
    const duckdb_v2_identifier_t name = text_of("keyray_where"), table = text_of("name"),
                                 ticket = text_of("ticket");
    duckdb_v2_table_function_handle function = NULL;
    duckdb_v2_function_signature_handle signature = NULL;
    duckdb_v2_opaque state = {job->state, state_free, NULL};
    const int failed =
        duckdb_v2_table_function_create(job->factory, &function, err) ||
        duckdb_v2_table_function_set_name(function, &name, err) ||
        duckdb_v2_table_function_get_signature(function, &signature, err) ||
        duckdb_v2_function_signature_add_parameter(signature, &table, job->text, NULL,
                                                   DUCKDB_V2_FUNCTION_PARAMETER_KIND_POSITIONAL_ONLY, err) ||
        duckdb_v2_function_signature_add_parameter(signature, &ticket, job->ticket, job->any_text,
                                                   DUCKDB_V2_FUNCTION_PARAMETER_KIND_NAMED_ONLY, err) ||
        duckdb_v2_table_function_set_bind_callback(function, bind_where, err) ||
        duckdb_v2_table_function_set_filter_pushdown_callback(function, push_where, err) ||
        !set_reading(function, err) || duckdb_v2_table_function_set_user_data(function, &state, err);
    if (!failed)
        duckdb_v2_extension_register_table_function(job->extension, function, err);
    duckdb_v2_table_function_destroy(&function);
}

/* ---- Loading ---------------------------------------------------------------------------------- */

static int begin(registering *job, duckdb_v2_context_handle context, duckdb_v2_error_info_handle *err)
{
    const duckdb_v2_str text = {"", 0};
    return !duckdb_v2_context_get_factory(context, &job->factory, err) &&
           !duckdb_v2_factory_create_type_from_id(job->factory, DUCKDB_V2_LOGICAL_TYPE_ID_VARCHAR, NULL, NULL,
                                                  0, &job->text, err) &&
           !duckdb_v2_value_create_varchar(job->factory, &text, &job->any_text, err);
}

static void end(registering *job)
{
    duckdb_v2_value_destroy(&job->any_text);
    duckdb_v2_logical_type_destroy(&job->text);
    duckdb_v2_logical_type_destroy(&job->ticket);
}

static void load(registering *job, duckdb_v2_error_info_handle *err)
{
    const share *with = find_share(job);
    if (!with) {
        refuse(err, DUCKDB_V2_ERROR_RESOURCE_MISSING_EXTENSION,
               "keyray_where needs the extension keyray: LOAD keyray first");
        return;
    }
    if (with->magic != SHARE_MAGIC || with->struct_size != sizeof *with) {
        refuse(err, DUCKDB_V2_ERROR_RESOURCE_MISSING_EXTENSION,
               "keyray_where and keyray are not of one build: take both from one");
        return;
    }
    job->state = calloc(1, sizeof *job->state);
    if (!job->state) {
        refuse(err, DUCKDB_V2_ERROR_RESOURCE_OUT_OF_MEMORY, "keyray_where: there is no memory");
        return;
    }
    job->state->with = with;
    job->state->secret = mix((uint64_t)(uintptr_t)job->state ^ (uint64_t)time(NULL) << 20);
    pthread_mutex_init(&job->state->mutex, NULL);
    if (register_ticket(job, err)) /* the cast has the state, too: it stays, whatever comes */
        register_scan(job, err);
}

/* DuckDB looks for it by this name. */
void keyray_where_init_c_api_v2(struct duckdb_v2_extension_input *input);

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_v2_extension_handle extension, duckdb_v2_context_handle context,
                            duckdb_v2_error_info_handle *err)
{
    registering job = {.extension = extension};
    if (begin(&job, context, err))
        load(&job, err);
    end(&job);
}
