/* keyray_where('t') while a query runs: one scan, whose rows any number of threads hand over. */
#include "where.h"

/* Rows of the table that a thread takes at a time, and rows of a chunk. */
enum { BATCH = 131072, CHUNK = 2048 };

/* A column that a query wants, in host memory; of texts codes, and the dictionary. */
typedef struct given_column {
    const asked_column *asked;
    kr_column values;
    void *copied, *copied_validity; /* of a column on a GPU */
    const kr_texts *texts;
} given_column;

/* DuckDB's global state. */
typedef struct reading {
    const share *with;
    shared_table table;
    uint64_t n;       /* rows of the table; rows that are given, if only their number is asked for */
    uint64_t *bitmap; /* of the table's rows that are given; NULL: all */
    int counts;       /* 1: only their number */
    uint32_t n_columns;
    given_column *columns;
    uint64_t next; /* the first row that no thread has; atomic */
} reading;

/* A thread's part: rows of the table that it has yet to look at, and those that it gives next. */
typedef struct part {
    uint64_t at, end, batch;
    uint64_t first, n; /* rows first to first + n of the table, unless there is a bitmap */
    uint32_t ids[CHUNK];
} part;

static void reading_free(void *freed)
{
    reading *of = freed;
    for (uint32_t c = 0; of->columns && c < of->n_columns; ++c) {
        free(of->columns[c].copied);
        free(of->columns[c].copied_validity);
    }
    free(of->columns);
    free(of->bitmap);
    if (of->table.table)
        of->with->table_leave(of->with->in, &of->table);
    free(of);
}

static kr_status no_memory(kr_error *err)
{
    return fail(err, KR_ERR_HOST_MEMORY, "a scan needs memory, which there is not");
}

/* ---- The scan --------------------------------------------------------------------------------- */

/* A plan may be older than the table of its name: DuckDB keeps plans of prepared statements. */
static kr_status find_table(reading *made, const asking *what, kr_error *err)
{
    kr_status status =
        made->with->table_find(made->with->in, what->name, strlen(what->name), &made->table, err);
    if (status == KR_OK && made->table.n_columns + 1 != what->n_columns)
        status = fail(err, KR_ERR_TYPE, "the table '%s' was replaced by one of other columns: prepare again",
                      what->name);
    for (uint32_t c = 1; status == KR_OK && c < what->n_columns; ++c)
        if (!is_column_of(made->with, &made->table, what->columns + c))
            status = fail(err, KR_ERR_TYPE,
                          "the table '%s' was replaced by one that has no such column \"%s\": prepare again",
                          what->name, what->columns[c].name);
    return status;
}

static kr_status scan(reading *made, const kr_condition *condition, kr_error *err)
{
    uint64_t n = 0;
    made->bitmap = made->counts ? NULL : calloc(made->n / 64 + 1, sizeof *made->bitmap);
    if (!made->bitmap && !made->counts)
        return no_memory(err);
    const kr_scan_sink sink = {.struct_size = sizeof sink,
                               .result = made->counts ? KR_SCAN_COUNT : KR_SCAN_BITMAP,
                               .out = made->counts ? (void *)&n : made->bitmap};
    const kr_scan_sink *sinks[] = {&sink};
    const kr_status status = made->with->scan(made->table.table, &condition, sinks, 1, NULL, NULL, err);
    if (made->counts)
        made->n = n;
    return status;
}

static kr_status run_scan(reading *made, const asking *what, kr_error *err)
{
    const share *with = made->with;
    kr_table_info info = {.struct_size = sizeof info};
    kr_condition *all = NULL;
    kr_status status = with->table_query(made->table.table, &info, err);
    made->n = info.rows;
    if (status != KR_OK || (!what->n_conditions && info.alive_rows == info.rows))
        return status;
    status =
        with->condition_and((const kr_condition *const *)what->conditions, what->n_conditions, &all, err);
    if (status == KR_OK)
        status = scan(made, all, err);
    with->condition_destroy(all);
    return status;
}

/* ---- Columns ---------------------------------------------------------------------------------- */

static kr_status copy_column(reading *of, given_column *opened, kr_error *err)
{
    kr_column *values = &opened->values;
    const uint64_t nbytes = values->count * of->with->type_nbytes(values->type);
    const uint64_t n_valid = values->validity ? (values->validity_offset + values->count + 7) / 8 : 0;
    opened->copied = malloc(nbytes + 1);
    opened->copied_validity = malloc(n_valid + 1);
    if (!opened->copied || !opened->copied_validity)
        return no_memory(err);
    kr_status status =
        of->with->memory_copy(of->table.device, opened->copied, values->data, nbytes, NULL, err);
    if (status == KR_OK && n_valid)
        status = of->with->memory_copy(of->table.device, opened->copied_validity, values->validity, n_valid,
                                       NULL, err);
    values->data = opened->copied;
    values->validity = n_valid ? opened->copied_validity : NULL;
    return status;
}

static kr_status open_column(reading *of, given_column *opened, const asked_column *asked, kr_error *err)
{
    opened->asked = asked;
    if (!asked->name)
        return KR_OK;
    kr_status status =
        of->with->table_column(of->table.table, asked->column, NULL, NULL, &opened->values, err);
    opened->texts = of->with->table_texts(of->table.table, asked->column);
    if (status == KR_OK && !of->table.is_cpu && opened->values.count)
        status = copy_column(of, opened, err);
    return status;
}

static kr_status open_columns(reading *made, const asking *what,
                              duckdb_v2_table_function_init_global_info_handle info, kr_error *err)
{
    idx_t n = 0, index = 0;
    duckdb_v2_table_function_init_global_get_column_count(info, &n, NULL);
    made->columns = calloc(n + 1, sizeof *made->columns);
    kr_status status = made->columns ? KR_OK : no_memory(err);
    for (idx_t c = 0; status == KR_OK && c < n; ++c) {
        made->n_columns = (uint32_t)(c + 1);
        if (duckdb_v2_table_function_init_global_get_column_index(info, c, &index, NULL) ||
            index >= what->n_columns)
            return fail(err, KR_ERR_UNSUPPORTED, "DuckDB asked for a column that the table has not");
        status = open_column(made, made->columns + c, what->columns + index, err);
    }
    made->counts = status == KR_OK && what->is_row_unused && n == 1 && !made->columns[0].asked->name;
    return status;
}

static void init_global(duckdb_v2_table_function_init_global_info_handle info,
                        duckdb_v2_context_handle context, duckdb_v2_error_info_handle *err)
{
    void *what = NULL;
    kr_error error = {0};
    reading *made = calloc(1, sizeof *made);
    duckdb_v2_opaque opaque = {made, reading_free, NULL};
    (void)context;
    duckdb_v2_table_function_init_global_get_bind_data(info, &what, NULL);
    if (!made || !what) {
        free(made);
        refuse(err, DUCKDB_V2_ERROR_RESOURCE_OUT_OF_MEMORY, "keyray_where: there is no memory");
        return;
    }
    made->with = ((asking *)what)->state->with;
    kr_status status = find_table(made, what, &error);
    if (status == KR_OK)
        status = open_columns(made, what, info, &error);
    if (status == KR_OK)
        status = run_scan(made, what, &error);
    if (status == KR_OK)
        duckdb_v2_table_function_init_global_set_max_threads(info, made->n / BATCH + 1, NULL);
    duckdb_v2_table_function_init_global_set_global_state(info, &opaque, NULL);
    if (status != KR_OK)
        refuse(err, DUCKDB_V2_ERROR_QUERY_EXECUTOR, "keyray_where: %s", error.text);
}

static void init_local(duckdb_v2_table_function_init_local_info_handle info, duckdb_v2_context_handle context,
                       duckdb_v2_error_info_handle *err)
{
    part *made = calloc(1, sizeof *made);
    duckdb_v2_opaque opaque = {made, free, NULL};
    (void)context;
    if (!made || duckdb_v2_table_function_init_local_set_local_state(info, &opaque, NULL)) {
        free(made);
        refuse(err, DUCKDB_V2_ERROR_RESOURCE_OUT_OF_MEMORY, "keyray_where: there is no memory");
    }
}

/* ---- Vectors ---------------------------------------------------------------------------------- */

static uint64_t id_at(const reading *of, const part *at, uint64_t i)
{
    return of->bitmap ? at->ids[i] : at->first + i;
}

static int is_valid(const kr_column *of, uint64_t row)
{
    const uint64_t bit = of->validity_offset + row;
    return !of->validity || (of->validity[bit / 8] >> bit % 8 & 1);
}

static kr_status cannot_write(kr_error *err)
{
    return fail(err, KR_ERR_UNSUPPORTED, "DuckDB gave no memory of a vector");
}

static kr_status write_nulls(const reading *of, const given_column *from, const part *at,
                             duckdb_v2_vector_handle to, kr_error *err)
{
    uint64_t *bits = NULL;
    if (!from->values.validity)
        return KR_OK;
    if (duckdb_v2_vector_flat_get_validity_mutable(to, &bits, NULL))
        return cannot_write(err);
    for (uint64_t i = 0; i < at->n; ++i)
        if (!is_valid(&from->values, id_at(of, at, i)))
            bits[i / 64] &= ~(UINT64_C(1) << i % 64);
    return KR_OK;
}

static kr_status write_rows(const reading *of, const part *at, duckdb_v2_vector_handle to, kr_error *err)
{
    void *data = NULL;
    if (of->counts || (!of->bitmap && !of->table.rows))
        return duckdb_v2_vector_make_sequence(to, (int64_t)at->first, 1, at->n, NULL) ? cannot_write(err)
                                                                                      : KR_OK;
    if (duckdb_v2_vector_get_data_mutable(to, &data, NULL))
        return cannot_write(err);
    for (uint64_t i = 0; i < at->n; ++i) {
        const uint64_t id = id_at(of, at, i);
        ((int64_t *)data)[i] = of->table.rows ? of->table.rows[id] : (int64_t)id;
    }
    return KR_OK;
}

/* Rows that are few lie far apart: their values are asked for early. */
#define GATHER(type)                                      \
    for (uint64_t i = 0; i < at->n; ++i) {                \
        const type *values = from->values.data;           \
        if (i + 16 < at->n)                               \
            __builtin_prefetch(values + at->ids[i + 16]); \
        ((type *)data)[i] = values[at->ids[i]];           \
    }                                                     \
    break

static kr_status write_numbers(const reading *of, const given_column *from, const part *at,
                               duckdb_v2_vector_handle to, kr_error *err)
{
    const uint32_t size = of->with->type_nbytes(from->values.type);
    void *data = NULL;
    if (duckdb_v2_vector_get_data_mutable(to, &data, NULL))
        return cannot_write(err);
    if (!of->bitmap) {
        memcpy(data, (const char *)from->values.data + at->first * size, at->n * size);
        return write_nulls(of, from, at, to, err);
    }
    switch (size) {
    case 1: GATHER(uint8_t);
    case 2: GATHER(uint16_t);
    case 4: GATHER(uint32_t);
    default: GATHER(uint64_t);
    }
    return write_nulls(of, from, at, to, err);
}

/* Short texts are in the vector itself, others in its arena. */
static int put_text(duckdb_v2_arena_handle arena, duckdb_v2_bytes *to, const char *text, uint64_t nbytes)
{
    uint8_t *kept = NULL;
    memset(to, 0, sizeof *to);
    to->value.inlined.length = (uint32_t)nbytes;
    if (nbytes <= sizeof to->value.inlined.inlined) {
        memcpy(to->value.inlined.inlined, text, nbytes);
        return 1;
    }
    if (duckdb_v2_arena_allocate(arena, nbytes, &kept, NULL))
        return 0;
    memcpy(kept, text, nbytes);
    memcpy(to->value.pointer.prefix, text, sizeof to->value.pointer.prefix);
    to->value.pointer.ptr = (char *)kept;
    return 1;
}

static kr_status decode(const reading *of, const given_column *from, const uint32_t *codes, uint64_t n,
                        int64_t *offsets, char **bytes, kr_error *err)
{
    kr_status status = of->with->texts_decode(from->texts, codes, n, offsets, NULL, 0, NULL, err);
    if (status != KR_OK)
        return status;
    *bytes = malloc((size_t)offsets[n] + 1);
    if (!*bytes)
        return no_memory(err);
    return of->with->texts_decode(from->texts, codes, n, offsets, *bytes, (uint64_t)offsets[n], NULL, err);
}

static kr_status write_texts(const reading *of, const given_column *from, const part *at,
                             duckdb_v2_vector_handle to, kr_error *err)
{
    const uint64_t n = at->n;
    const uint32_t *codes = from->values.data;
    uint32_t *wanted = malloc(n * sizeof *wanted);
    int64_t *offsets = malloc((n + 1) * sizeof *offsets);
    char *bytes = NULL;
    void *data = NULL;
    duckdb_v2_arena_handle arena = NULL;
    kr_status status = wanted && offsets ? KR_OK : no_memory(err);
    for (uint64_t i = 0; status == KR_OK && i < n; ++i) {
        const uint64_t id = id_at(of, at, i);
        wanted[i] = is_valid(&from->values, id) ? codes[id] : KR_NO_ROW;
    }
    if (status == KR_OK)
        status = decode(of, from, wanted, n, offsets, &bytes, err);
    if (status == KR_OK &&
        (duckdb_v2_vector_get_data_mutable(to, &data, NULL) || duckdb_v2_vector_get_arena(to, &arena, NULL)))
        status = cannot_write(err);
    for (uint64_t i = 0; status == KR_OK && i < n; ++i)
        if (!put_text(arena, (duckdb_v2_bytes *)data + i, bytes + offsets[i],
                      (uint64_t)(offsets[i + 1] - offsets[i])))
            status = no_memory(err);
    free(wanted);
    free(offsets);
    free(bytes);
    return status == KR_OK ? write_nulls(of, from, at, to, err) : status;
}

/* ---- Handing over ----------------------------------------------------------------------------- */

/* Rows of the bitmap from at->at on. */
static void collect(const reading *of, part *at)
{
    at->n = 0;
    while (at->n < CHUNK && at->at < at->end) {
        const uint64_t base = at->at & ~UINT64_C(63);
        uint64_t word = of->bitmap[base / 64] & UINT64_MAX << at->at % 64;
        for (; word && at->n < CHUNK; word &= word - 1)
            at->ids[at->n++] = (uint32_t)(base + (uint64_t)__builtin_ctzll(word));
        at->at = base + (word ? (uint64_t)__builtin_ctzll(word) : 64);
    }
}

/* The next rows of the thread, all of one batch; at->n is 0 if there are none. */
static void take_rows(reading *of, part *at)
{
    at->n = 0;
    while (!at->n) {
        if (at->at >= at->end) {
            at->at = __atomic_fetch_add(&of->next, BATCH, __ATOMIC_RELAXED);
            at->batch = at->at / BATCH;
            if (at->at >= of->n)
                return;
            at->end = of->n - at->at < BATCH ? of->n : at->at + BATCH;
        }
        if (of->bitmap) {
            collect(of, at);
            continue;
        }
        at->first = at->at;
        at->n = at->end - at->at < CHUNK ? at->end - at->at : CHUNK;
        at->at += at->n;
    }
}

static kr_status write_chunk(const reading *of, const part *at, duckdb_v2_data_chunk_handle chunk,
                             kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t c = 0; status == KR_OK && c < of->n_columns; ++c) {
        const given_column *from = of->columns + c;
        duckdb_v2_vector_handle to = NULL;
        if (duckdb_v2_data_chunk_get_vector(chunk, c, &to, NULL) ||
            duckdb_v2_vector_set_size(to, at->n, NULL))
            return cannot_write(err);
        if (!from->asked->name)
            status = write_rows(of, at, to, err);
        else if (from->texts)
            status = write_texts(of, from, at, to, err);
        else
            status = write_numbers(of, from, at, to, err);
    }
    return status;
}

static void hand_over(duckdb_v2_table_function_exec_info_handle info, duckdb_v2_context_handle context,
                      duckdb_v2_error_info_handle *err)
{
    void *global = NULL, *local = NULL;
    duckdb_v2_data_chunk_handle chunk = NULL;
    idx_t most = 0;
    kr_error error = {0};
    (void)context;
    if (duckdb_v2_table_function_exec_get_global_state(info, &global, NULL) || !global ||
        duckdb_v2_table_function_exec_get_local_state(info, &local, NULL) || !local ||
        duckdb_v2_table_function_exec_get_output_chunk(info, &chunk, NULL) ||
        duckdb_v2_data_chunk_get_capacity(chunk, &most, NULL) || most < CHUNK) {
        refuse(err, DUCKDB_V2_ERROR_QUERY_EXECUTOR, "keyray_where: DuckDB gave no chunk");
        return;
    }
    take_rows(global, local);
    if (((part *)local)->n && write_chunk(global, local, chunk, &error) != KR_OK)
        refuse(err, DUCKDB_V2_ERROR_QUERY_EXECUTOR, "keyray_where: %s", error.text);
}

/* Lets DuckDB put the parts of several threads in order. */
static void tell_batch(duckdb_v2_table_function_partition_data_info_handle info,
                       duckdb_v2_context_handle context, duckdb_v2_error_info_handle *err)
{
    void *local = NULL;
    (void)context;
    if (duckdb_v2_table_function_partition_data_get_local_state(info, &local, NULL) || !local ||
        duckdb_v2_table_function_partition_data_set_batch_index(info, ((part *)local)->batch, NULL))
        refuse(err, DUCKDB_V2_ERROR_QUERY_EXECUTOR, "keyray_where: DuckDB refused the number of a batch");
}

static void tell_progress(duckdb_v2_table_function_progress_info_handle info,
                          duckdb_v2_context_handle context, duckdb_v2_error_info_handle *err)
{
    void *global = NULL;
    (void)context;
    (void)err;
    if (duckdb_v2_table_function_progress_get_global_state(info, &global, NULL) || !global)
        return;
    reading *of = global;
    const uint64_t given = __atomic_load_n(&of->next, __ATOMIC_RELAXED);
    const double done = of->n ? (double)given / (double)of->n : 1;
    duckdb_v2_table_function_progress_set_progress(info, done < 1 ? done : 1, NULL);
}

int set_reading(duckdb_v2_table_function_handle function, duckdb_v2_error_info_handle *err)
{
    return !duckdb_v2_table_function_set_init_global_callback(function, init_global, err) &&
           !duckdb_v2_table_function_set_init_local_callback(function, init_local, err) &&
           !duckdb_v2_table_function_set_exec_callback(function, hand_over, err) &&
           !duckdb_v2_table_function_set_partition_data_callback(function, tell_batch, err) &&
           !duckdb_v2_table_function_set_progress_callback(function, tell_progress, err) &&
           !duckdb_v2_table_function_set_projection_pushdown(function, true, err);
}
