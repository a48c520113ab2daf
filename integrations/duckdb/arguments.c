#include "arguments.h"

void refuse_bind(duckdb_bind_info info, const char *name, const kr_error *err)
{
    char message[MESSAGE_NBYTES];
    put_message(message, name, err);
    duckdb_bind_set_error(info, message);
}

void refuse_init(duckdb_init_info info, const char *name, const kr_error *err)
{
    char message[MESSAGE_NBYTES];
    put_message(message, name, err);
    duckdb_init_set_error(info, message);
}

void refuse_call(duckdb_function_info info, const char *name, const kr_error *err)
{
    char message[MESSAGE_NBYTES];
    put_message(message, name, err);
    duckdb_function_set_error(info, message);
}

static const kr_error no_memory = {.status = KR_ERR_HOST_MEMORY, .text = "there is no memory for the call"};

void *bind_memory(duckdb_bind_info info, size_t nbytes, const char *name)
{
    void *made = calloc(1, nbytes);
    if (!made)
        refuse_bind(info, name, &no_memory);
    return made;
}

void *init_memory(duckdb_init_info info, size_t nbytes, const char *name)
{
    void *made = calloc(1, nbytes);
    if (!made)
        refuse_init(info, name, &no_memory);
    return made;
}

/* A copy that free releases; destroys the value. NULL with an error of DuckDB's call: there is no memory,
 * which must not look like an argument that was not given. */
static char *text_of(duckdb_bind_info info, duckdb_value value)
{
    char *made = NULL;
    if (value && !duckdb_is_null_value(value)) {
        char *given = duckdb_get_varchar(value);
        made = given ? copy_text((span){given, strlen(given)}) : NULL;
        duckdb_free(given);
        if (!made)
            duckdb_bind_set_error(info, no_memory.text);
    }
    if (value)
        duckdb_destroy_value(&value);
    return made;
}

char *argument_at(duckdb_bind_info info, idx_t at, const char *what)
{
    char message[128];
    duckdb_value value = duckdb_bind_get_parameter(info, at);
    const int is_given = value && !duckdb_is_null_value(value);
    char *made = text_of(info, value);
    if (!is_given) {
        snprintf(message, sizeof message, "%s is NULL: name it", what);
        duckdb_bind_set_error(info, message);
    }
    return made;
}

char *argument_named(duckdb_bind_info info, const char *name)
{
    return text_of(info, duckdb_bind_get_named_parameter(info, name));
}

/* The caller destroys it; NULL: it was not given, or is NULL. */
static duckdb_value value_named(duckdb_bind_info info, const char *name)
{
    duckdb_value given = duckdb_bind_get_named_parameter(info, name);
    if (given && duckdb_is_null_value(given))
        duckdb_destroy_value(&given);
    return given;
}

static int integer_named(duckdb_bind_info info, const char *name, int64_t *value)
{
    duckdb_value given = value_named(info, name);
    if (!given)
        return 0;
    *value = duckdb_get_int64(given);
    duckdb_destroy_value(&given);
    return 1;
}

static int real_named(duckdb_bind_info info, const char *name, double *value)
{
    duckdb_value given = value_named(info, name);
    if (!given)
        return 0;
    *value = duckdb_get_double(given);
    duckdb_destroy_value(&given);
    return 1;
}

kr_status nearest_named(duckdb_bind_info info, question *asked, kr_error *err)
{
    char *side = argument_named(info, "side");
    const span given = side ? (span){side, strlen(side)} : (span){"below", 5};
    const kr_status status = question_of_side(given, asked, err);
    free(side);
    kr_nearest_options *nearest = &asked->nearest;
    nearest->limited = integer_named(info, "tolerance", &nearest->tolerance) ||
                       real_named(info, "float_tolerance", &nearest->float_tolerance);
    return status;
}

int flag_named(duckdb_bind_info info, const char *name, int otherwise)
{
    duckdb_value given = value_named(info, name);
    if (!given)
        return otherwise;
    otherwise = duckdb_get_bool(given);
    duckdb_destroy_value(&given);
    return otherwise;
}

kr_status join_type_of(const char *how, kr_join_type *type, kr_error *err)
{
    static const struct {
        const char *how;
        kr_join_type type;
    } types[] = {
        {"inner", KR_JOIN_INNER}, {"left", KR_JOIN_LEFT}, {"semi", KR_JOIN_SEMI}, {"anti", KR_JOIN_ANTI}};
    *type = KR_JOIN_INNER;
    for (uint32_t i = 0; how && i < 4; ++i)
        if (!strcmp(how, types[i].how)) {
            *type = types[i].type;
            return KR_OK;
        }
    return how ? fail(err, KR_ERR_ARGUMENT, "how is '%.40s': write 'inner', 'left', 'semi' or 'anti'", how)
               : KR_OK;
}

void add_column(duckdb_bind_info info, const char *name, duckdb_type type)
{
    duckdb_logical_type made = duckdb_create_logical_type(type);
    duckdb_bind_add_result_column(info, name, made);
    duckdb_destroy_logical_type(&made);
}

static void add_pair_columns(duckdb_bind_info info, kr_join_type type)
{
    add_column(info, "left_row", DUCKDB_TYPE_BIGINT);
    if (gives_pairs(type))
        add_column(info, "right_row", DUCKDB_TYPE_BIGINT);
}

void end_bind(duckdb_bind_info info, const char *name, kr_join_type type, void *made,
              duckdb_delete_callback_t release, kr_status status, const kr_error *err)
{
    if (status != KR_OK) {
        refuse_bind(info, name, err);
        release(made);
        return;
    }
    add_pair_columns(info, type);
    duckdb_bind_set_bind_data(info, made, release);
}

idx_t threads_of(registry *of)
{
    char *value = registry_setting(of, "threads");
    const int n = value ? atoi(value) : 1;
    free(value);
    return n > 0 ? (idx_t)n : 1;
}
