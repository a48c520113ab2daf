/* keyray_overlap and keyray_asof_tables: joins of two tables by name, which make what they need and keep
 * nothing. */
#include "arguments.h"
#include "probes.h"
#include "reader.h"

/* What was asked for. Columns of a side are its groups, then its start and end, or its time. */
typedef struct asking {
    _Atomic uint32_t n_uses; /* DuckDB may release what a query was bound to before what runs it */
    registry *in;
    const char *who;
    char *tables[2], *columns[2], *rows[2];
    kr_join_type type;
    kr_interval_ends ends;
    int is_asof;
    question asked;
} asking;

typedef struct running {
    asking *what;
    whole sides[2];
    shared_device *on;
    kr_join *join;
    uint64_t n, at;
} running;

/* ---- Asking ----------------------------------------------------------------------------------- */

static void asking_free(void *freed)
{
    asking *of = freed;
    if (--of->n_uses)
        return;
    registry_release(of->in);
    for (int s = 0; s < 2; ++s) {
        free(of->tables[s]);
        free(of->columns[s]);
        free(of->rows[s]);
    }
    free(of);
}

/* "a, b" and "c": "a, b, c". Either may be NULL. */
static char *listed(char *first, char *then)
{
    if (!first || !then)
        return first ? first : then;
    const size_t n = strlen(first) + strlen(then) + 2;
    char *made = malloc(n);
    if (made)
        snprintf(made, n, "%s,%s", first, then);
    free(first);
    free(then);
    return made;
}

static kr_status take_options(duckdb_bind_info info, asking *made, kr_error *err)
{
    char *how = argument_named(info, "how");
    kr_status status = join_type_of(how, &made->type, err);
    free(how);
    for (int s = 0; s < 2; ++s) {
        made->rows[s] = argument_named(info, s ? "right_row_id" : "left_row_id");
        if (!made->rows[s])
            made->rows[s] = copy_text((span){"rowid", 5});
        if (status == KR_OK && (!made->tables[s] || !made->columns[s] || !made->rows[s]))
            status =
                fail(err, KR_ERR_ARGUMENT, "a table or a column is NULL, or there is no memory for its name");
    }
    return status;
}

static void bind_overlap(duckdb_bind_info info)
{
    kr_error err = {0};
    asking *made = bind_memory(info, sizeof *made, "keyray_overlap");
    if (!made)
        return;
    made->who = "keyray_overlap";
    made->in = registry_hold(duckdb_bind_get_extra_info(info));
    made->n_uses = 1;
    for (int s = 0; s < 2; ++s) {
        made->tables[s] = argument_at(info, 3 * (idx_t)s, "a table");
        char *own = listed(argument_at(info, 3 * (idx_t)s + 1, "a start"),
                           argument_at(info, 3 * (idx_t)s + 2, "an end"));
        char *by = argument_named(info, s ? "right_by" : "left_by");
        made->columns[s] = own ? listed(by, own) : NULL;
        if (!own)
            free(by);
    }
    made->ends = flag_named(info, "closed", 1) ? KR_ENDS_CLOSED : KR_ENDS_OPEN;
    const kr_status status = take_options(info, made, &err);
    end_bind(info, made->who, made->type, made, asking_free, status, &err);
}

static void bind_asof(duckdb_bind_info info)
{
    kr_error err = {0};
    asking *made = bind_memory(info, sizeof *made, "keyray_asof_tables");
    if (!made)
        return;
    made->who = "keyray_asof_tables";
    made->in = registry_hold(duckdb_bind_get_extra_info(info));
    made->n_uses = 1;
    made->is_asof = 1;
    for (int s = 0; s < 2; ++s) {
        made->tables[s] = argument_at(info, 2 * (idx_t)s, "a table");
        made->columns[s] = argument_at(info, 2 * (idx_t)s + 1, "a column");
    }
    kr_status status = nearest_named(info, &made->asked, &err);
    if (status == KR_OK)
        status = take_options(info, made, &err);
    end_bind(info, made->who, made->type, made, asking_free, status, &err);
}

/* ---- Running ---------------------------------------------------------------------------------- */

static void running_free(void *freed)
{
    running *of = freed;
    kr_join_destroy(of->join);
    whole_free(of->sides);
    whole_free(of->sides + 1);
    registry_leave_device(of->what->in, of->on);
    asking_free(of->what);
    free(of);
}

/* How many columns at the end are not groups. */
static uint32_t n_own(const asking *what)
{
    return what->is_asof ? 1 : 2;
}

static kr_status check_sides(const running *of, kr_error *err)
{
    const whole *left = of->sides, *right = of->sides + 1;
    if (left->n_columns != right->n_columns || left->n_columns < n_own(of->what))
        return fail(err, KR_ERR_ARGUMENT, "the sides have %u and %u columns: name as many of either",
                    left->n_columns, right->n_columns);
    for (uint32_t c = 0; c < left->n_columns; ++c) {
        const column_type *one = &left->columns[c].type, *other = &right->columns[c].type;
        if (one->sql != other->sql && !(is_text(one) && is_text(other)))
            return fail(err, KR_ERR_TYPE,
                        "columns %u of the sides are %s and %s: cast one, in a view or a table", c + 1,
                        sql_name(one->sql), sql_name(other->sql));
    }
    return of->what->is_asof
               ? probes_check_tolerance(of->what->tables[1], &right->columns[right->n_columns - 1].type,
                                        &of->what->asked.nearest, err)
               : KR_OK;
}

static kr_status join(running *of, kr_error *err)
{
    const asking *what = of->what;
    kr_device *device = of->on->device;
    kr_column views[2][COLUMNS_MOST];
    const uint32_t n_by = of->sides[0].n_columns - n_own(what);
    for (int s = 0; s < 2; ++s)
        for (uint32_t c = 0; c < of->sides[s].n_columns; ++c)
            views[s][c] = column_view(of->sides[s].columns + c);
    kr_join_options options = {.struct_size = sizeof options, .type = what->type, .unordered = 1};
    if (what->is_asof) {
        options.unordered = 0;
        return kr_join_create_asof(device, "best", &views[0][n_by], &views[1][n_by], views[0], views[1], n_by,
                                   &what->asked.nearest, &options, &of->join, err);
    }
    options.left_by = views[0];
    options.right_by = views[1];
    options.n_by = n_by;
    return kr_join_create_overlap(device, "best", &views[0][n_by], &views[0][n_by + 1], &views[1][n_by],
                                  &views[1][n_by + 1], what->ends, &options, &of->join, err);
}

static void init(duckdb_init_info info)
{
    asking *what = duckdb_init_get_bind_data(info);
    kr_error err = {0};
    kr_join_info made = {.struct_size = sizeof made};
    running *of = init_memory(info, sizeof *of, what->who);
    if (!of)
        return;
    of->what = what;
    ++what->n_uses;
    kr_status status = registry_device(what->in, 1, &of->on, &err);
    for (int s = 0; status == KR_OK && s < 2; ++s) {
        const reading read = {.table = what->tables[s], .row = what->rows[s], .columns = what->columns[s]};
        status = whole_read(of->sides + s, what->in, &read, &err);
    }
    if (status == KR_OK)
        status = check_sides(of, &err);
    if (status == KR_OK)
        status = join(of, &err);
    if (status == KR_OK)
        status = kr_join_query(of->join, &made, &err);
    if (status != KR_OK) {
        refuse_init(info, what->who, &err);
        running_free(of);
        return;
    }
    of->n = made.pairs;
    duckdb_init_set_init_data(info, of, running_free);
}

/* The row of a side, as SQL knows it. */
static int64_t row_of(const whole *side, uint32_t row)
{
    return ((const int64_t *)side->rows.data)[row];
}

static void call(duckdb_function_info info, duckdb_data_chunk output)
{
    enum { PIECE = 2048 };
    running *of = duckdb_function_get_init_data(info);
    uint32_t left[PIECE], right[PIECE];
    const uint64_t rest = of->n - of->at, n = rest < PIECE ? rest : PIECE;
    const int pairs = gives_pairs(of->what->type);
    kr_error err = {0};
    if (n && kr_join_read(of->join, of->at, n, left, right, &err) != KR_OK) {
        refuse_call(info, of->what->who, &err);
        return;
    }
    int64_t *lefts = duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, 0));
    duckdb_vector vector = pairs ? duckdb_data_chunk_get_vector(output, 1) : NULL;
    int64_t *rights = pairs ? duckdb_vector_get_data(vector) : NULL;
    for (uint64_t i = 0; i < n; ++i) {
        lefts[i] = row_of(of->sides, left[i]);
        if (pairs && right[i] == KR_NO_ROW)
            set_null(vector, i);
        else if (pairs)
            rights[i] = row_of(of->sides + 1, right[i]);
    }
    of->at += n;
    duckdb_data_chunk_set_size(output, n);
}

void register_overlaps(registering *job)
{
#define TEXT DUCKDB_TYPE_VARCHAR
    static const table_function functions[] = {{"keyray_overlap",
                                                {TEXT, TEXT, TEXT, TEXT, TEXT, TEXT},
                                                {{"how", TEXT},
                                                 {"closed", DUCKDB_TYPE_BOOLEAN},
                                                 {"left_by", TEXT},
                                                 {"right_by", TEXT},
                                                 {"left_row_id", TEXT},
                                                 {"right_row_id", TEXT}},
                                                bind_overlap,
                                                init,
                                                NULL,
                                                call,
                                                0},
                                               {"keyray_asof_tables",
                                                {TEXT, TEXT, TEXT, TEXT},
                                                {{"how", TEXT},
                                                 {"side", TEXT},
                                                 {"tolerance", DUCKDB_TYPE_BIGINT},
                                                 {"float_tolerance", DUCKDB_TYPE_DOUBLE},
                                                 {"left_row_id", TEXT},
                                                 {"right_row_id", TEXT}},
                                                bind_asof,
                                                init,
                                                NULL,
                                                call,
                                                0}};
    register_table_functions(job, functions, sizeof functions / sizeof *functions);
}
