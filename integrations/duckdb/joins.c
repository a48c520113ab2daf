/* keyray_join and keyray_asof: an index that exists with columns of a table, read by a second connection.
 * Each of DuckDB's threads takes probes, looks them up and hands pairs over. */
#include "arguments.h"
#include "probes.h"
#include "reader.h"

/* Probes that a thread takes at once. On a CPU they stay in its cache; a GPU gets many. */
enum { TAKES_CPU = 1 << 14, TAKES_GPU = 1 << 24 };
/* Rows of probes that it keeps at once: where a key has many, fewer probes are answered together. */
enum { ROWS_MOST = 1 << 24 };

/* What was asked for: made once, read by all threads. */
typedef struct asking {
    _Atomic uint32_t n_uses; /* DuckDB may release what a query was bound to before what runs it */
    registry *in;
    const char *who;
    char *index, *table, *columns, *upper, *row;
    kr_join_type type;
    question asked;
} asking;

/* What one run of the query has. */
typedef struct running {
    asking *what;
    item *of;
    reader reader;
    uint64_t takes;
} running;

/* What a thread has: probes, their rows, and how far their pairs were handed over. */
typedef struct worker {
    probes probes;
    column left;
    int has_probes;
    uint64_t *offsets; /* of pairs, of probes from `first` to `end`; NULL: each probe has one row or none */
    uint32_t *rows;
    uint8_t *exists;
    uint64_t n, at, first, end, pair;
} worker;

/* ---- Asking ----------------------------------------------------------------------------------- */

static void asking_free(void *freed)
{
    asking *of = freed;
    if (--of->n_uses)
        return;
    registry_release(of->in);
    free(of->index);
    free(of->table);
    free(of->columns);
    free(of->upper);
    free(of->row);
    free(of);
}

static kr_status take_options(duckdb_bind_info info, asking *made, kr_error *err)
{
    char *how = argument_named(info, "how");
    made->row = argument_named(info, "row_id");
    kr_status status = join_type_of(how, &made->type, err);
    free(how);
    if (!made->row)
        made->row = copy_text((span){"rowid", 5});
    if (status == KR_OK && !made->row)
        status = fail(err, KR_ERR_HOST_MEMORY, "a join needs memory, which there is not");
    return status;
}

static asking *begin(duckdb_bind_info info, const char *who)
{
    asking *made = bind_memory(info, sizeof *made, who);
    if (!made)
        return NULL;
    made->who = who;
    made->in = registry_hold(duckdb_bind_get_extra_info(info));
    made->n_uses = 1;
    made->index = argument_at(info, 0, "the index");
    made->table = argument_at(info, 1, "the table");
    made->columns = argument_at(info, 2, "the column");
    if (made->index && made->table && made->columns)
        return made;
    asking_free(made);
    return NULL;
}

static void bind_join(duckdb_bind_info info)
{
    kr_error err = {0};
    asking *made = begin(info, "keyray_join");
    if (!made)
        return;
    made->upper = argument_named(info, "upper");
    made->asked.is_range = made->upper != NULL;
    const kr_status status = take_options(info, made, &err);
    end_bind(info, made->who, made->type, made, asking_free, status, &err);
}

static void bind_asof(duckdb_bind_info info)
{
    kr_error err = {0};
    asking *made = begin(info, "keyray_asof");
    if (!made)
        return;
    kr_status status = nearest_named(info, &made->asked, &err);
    if (status == KR_OK)
        status = take_options(info, made, &err);
    end_bind(info, made->who, made->type, made, asking_free, status, &err);
}

/* ---- Running ---------------------------------------------------------------------------------- */

static void running_free(void *freed)
{
    running *of = freed;
    reader_close(&of->reader);
    item_leave(of->what->in, of->of);
    asking_free(of->what);
    free(of);
}

static void init(duckdb_init_info info)
{
    asking *what = duckdb_init_get_bind_data(info);
    kr_error err = {0};
    running *made = init_memory(info, sizeof *made, what->who);
    if (!made)
        return;
    made->what = what;
    ++what->n_uses;
    kr_status status =
        registry_find(what->in, (span){what->index, strlen(what->index)}, ITEM_INDEX, &made->of, &err);
    const reading read = {.table = what->table,
                          .row = what->row,
                          .columns = what->columns,
                          .last = what->upper,
                          .as_struct = made->of ? made->of->is_struct : 0};
    kr_device_info device = {.struct_size = sizeof device};
    if (status == KR_OK)
        status = kr_device_query(made->of->on->device, &device, &err);
    made->takes = strncmp(device.name, "cpu", 3) ? TAKES_GPU : TAKES_CPU;
    if (status == KR_OK)
        status = reader_open(&made->reader, what->in, &read, &err);
    if (status != KR_OK) {
        refuse_init(info, what->who, &err);
        running_free(made);
        return;
    }
    duckdb_init_set_max_threads(info, threads_of(what->in));
    duckdb_init_set_init_data(info, made, running_free);
}

static void worker_free(void *freed)
{
    worker *of = freed;
    probes_free(&of->probes);
    column_free(&of->left);
    free(of->offsets);
    free(of->rows);
    free(of->exists);
    free(of);
}

static void init_local(duckdb_init_info info)
{
    const column_type type = {.sql = DUCKDB_TYPE_BIGINT, .type = KR_I64};
    worker *made = init_memory(info, sizeof *made, "keyray_join");
    if (!made)
        return;
    column_init(&made->left, &type);
    duckdb_init_set_init_data(info, made, worker_free);
}

static kr_status add_chunk(const running *of, worker *by, duckdb_data_chunk chunk, kr_error *err)
{
    const idx_t n = duckdb_data_chunk_get_size(chunk);
    duckdb_vector lower = duckdb_data_chunk_get_vector(chunk, 1);
    duckdb_vector upper = of->what->upper ? duckdb_data_chunk_get_vector(chunk, 2) : NULL;
    kr_status status = KR_OK;
    if (!by->has_probes)
        status = probes_init(&by->probes, of->of, &of->what->asked, lower, upper, err);
    by->has_probes = 1;
    if (status == KR_OK)
        status = check_row_ids(duckdb_data_chunk_get_vector(chunk, 0), n, of->what->table, err);
    if (status == KR_OK)
        status = column_append(&by->left, duckdb_data_chunk_get_vector(chunk, 0), 0, n, err);
    return status == KR_OK ? probes_add(&by->probes, lower, upper, 0, n, err) : status;
}

/* Room for the answers of n probes. */
static kr_status make_room(worker *by, int pairs, kr_error *err)
{
    free(by->offsets);
    free(by->rows);
    free(by->exists);
    by->rows = NULL;
    by->offsets = pairs ? malloc((by->n + 1) * sizeof *by->offsets) : NULL;
    by->exists = pairs ? NULL : malloc(by->n / 8 + 1);
    return by->offsets || by->exists
               ? KR_OK
               : fail(err, KR_ERR_HOST_MEMORY, "answers need memory, which there is not");
}

/* The rows of probes from `at` on, of as many as these have few enough rows. */
static kr_status answer_rows(worker *by, kr_error *err)
{
    uint64_t n = by->n - by->at;
    free(by->rows);
    by->rows = NULL;
    const kr_status status = probes_rows(&by->probes, by->at, &n, ROWS_MOST, by->offsets, &by->rows, err);
    by->first = by->at;
    by->end = by->at + n;
    by->pair = 0;
    return status;
}

static kr_status answer(const running *of, worker *by, kr_error *err)
{
    const int nearest = of->what->asked.is_nearest, pairs = gives_pairs(of->what->type);
    by->n = by->end = by->left.count;
    by->at = by->first = by->pair = 0;
    kr_status status = make_room(by, pairs && !nearest, err);
    if (status != KR_OK)
        return status;
    if (pairs && !nearest)
        return answer_rows(by, err);
    by->rows = malloc(by->n * sizeof *by->rows);
    kr_sink sink = {.struct_size = sizeof sink,
                    .result = nearest ? KR_RESULT_ROW : KR_RESULT_EXISTS,
                    .out = nearest ? (void *)by->rows : by->exists};
    if (!by->rows)
        return fail(err, KR_ERR_HOST_MEMORY, "answers need memory, which there is not");
    status = probes_answer(&by->probes, 0, by->n, &sink, err);
    for (uint64_t i = 0; status == KR_OK && nearest && i < by->n; ++i) {
        const uint8_t bit = (uint8_t)(1u << i % 8);
        by->exists[i / 8] =
            (uint8_t)(by->rows[i] != KR_NO_ROW ? by->exists[i / 8] | bit : by->exists[i / 8] & ~bit);
    }
    return status;
}

/* Takes probes and answers them; by->n is 0 when there are no more. */
static kr_status refill(running *of, worker *by, kr_error *err)
{
    kr_status status = KR_OK;
    column_clear(&by->left);
    if (by->has_probes)
        probes_clear(&by->probes);
    while (status == KR_OK && by->left.count < of->takes) {
        duckdb_data_chunk chunk = reader_next(&of->reader);
        if (!chunk)
            break;
        status = add_chunk(of, by, chunk, err);
        duckdb_destroy_data_chunk(&chunk);
    }
    by->n = by->at = by->end = 0;
    return status == KR_OK && by->left.count ? answer(of, by, err) : status;
}

/* ---- Handing over ----------------------------------------------------------------------------- */

/* Each probe has one row or none. */
static idx_t hand_over_one(const running *of, worker *by, int64_t *left, int64_t *right, duckdb_vector rights,
                           idx_t room)
{
    const int64_t *rows = by->left.data;
    const kr_join_type type = of->what->type;
    idx_t n = 0;
    for (; by->at < by->n && n < room; ++by->at) {
        const int found = by->exists[by->at / 8] >> by->at % 8 & 1;
        if (type == KR_JOIN_ANTI ? found : !found && type != KR_JOIN_LEFT)
            continue;
        left[n] = rows[by->at];
        if (right && found)
            right[n] = item_row(of->of, by->rows[by->at]);
        else if (right)
            set_null(rights, n);
        ++n;
    }
    return n;
}

static idx_t hand_over_pairs(const running *of, worker *by, int64_t *left, int64_t *right,
                             duckdb_vector rights, idx_t room)
{
    const int64_t *rows = by->left.data;
    idx_t n = 0;
    while (by->at < by->end && n < room) {
        const uint64_t begin = by->offsets[by->at - by->first], stop = by->offsets[by->at - by->first + 1];
        if (begin == stop && of->what->type == KR_JOIN_LEFT) {
            left[n] = rows[by->at];
            set_null(rights, n++);
        }
        by->pair = by->pair < begin ? begin : by->pair;
        for (; by->pair < stop && n < room; ++by->pair, ++n) {
            left[n] = rows[by->at];
            right[n] = item_row(of->of, by->rows[by->pair]);
        }
        by->at += by->pair >= stop;
    }
    return n;
}

static void call(duckdb_function_info info, duckdb_data_chunk output)
{
    running *of = duckdb_function_get_init_data(info);
    worker *by = duckdb_function_get_local_init_data(info);
    const idx_t room = duckdb_vector_size();
    const int pairs = gives_pairs(of->what->type);
    int64_t *left = duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, 0));
    duckdb_vector rights = pairs ? duckdb_data_chunk_get_vector(output, 1) : NULL;
    int64_t *right = pairs ? duckdb_vector_get_data(rights) : NULL;
    idx_t n = 0;
    while (!n) {
        kr_error err = {0};
        const kr_status status = by->at == by->n     ? refill(of, by, &err)
                                 : by->at == by->end ? answer_rows(by, &err)
                                                     : KR_OK;
        if (status != KR_OK) {
            refuse_call(info, of->what->who, &err);
            return;
        }
        if (!by->n)
            break;
        n = by->offsets ? hand_over_pairs(of, by, left, right, rights, room)
                        : hand_over_one(of, by, left, right, rights, room);
    }
    duckdb_data_chunk_set_size(output, n);
}

void register_joins(registering *job)
{
    static const table_function functions[] = {
        {"keyray_join",
         {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR},
         {{"how", DUCKDB_TYPE_VARCHAR}, {"upper", DUCKDB_TYPE_VARCHAR}, {"row_id", DUCKDB_TYPE_VARCHAR}},
         bind_join,
         init,
         init_local,
         call,
         0},
        {"keyray_asof",
         {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR},
         {{"how", DUCKDB_TYPE_VARCHAR},
          {"side", DUCKDB_TYPE_VARCHAR},
          {"tolerance", DUCKDB_TYPE_BIGINT},
          {"float_tolerance", DUCKDB_TYPE_DOUBLE},
          {"row_id", DUCKDB_TYPE_VARCHAR}},
         bind_asof,
         init,
         init_local,
         call,
         0}};
    register_table_functions(job, functions, sizeof functions / sizeof *functions);
}
