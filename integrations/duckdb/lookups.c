/* Functions over vectors of probes: keyray_row, keyray_rows, keyray_exists, keyray_count, keyray_sum,
 * keyray_fsum, keyray_nearest. */
#include "functions.h"
#include "probes.h"

enum { PIECE = 2048 };

/* One call: rows of the chunk whose names are equal, and where their answers go. */
typedef struct call {
    const item *of;
    const probes *probes;
    duckdb_vector lower, upper, output;
    idx_t first, n; /* in the chunk */
} call;

typedef kr_status (*answer)(const call *job, kr_error *err);

/* A function's shape: which arguments it has behind the name, and what answers. */
typedef struct shape {
    const char *name;
    int is_range, has_side, has_tolerance;
    answer answer;
} shape;

static int is_unknown(const call *job, idx_t i)
{
    return is_null(job->lower, job->first + i) || (job->upper && is_null(job->upper, job->first + i));
}

/* ---- Answers ---------------------------------------------------------------------------------- */

static kr_status answer_row(const call *job, kr_error *err)
{
    uint32_t rows[PIECE];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    const kr_status status = probes_answer(job->probes, 0, job->n, &sink, err);
    int64_t *out = (int64_t *)duckdb_vector_get_data(job->output) + job->first;
    for (idx_t i = 0; status == KR_OK && i < job->n; ++i)
        if (rows[i] == KR_NO_ROW)
            set_null(job->output, job->first + i);
        else
            out[i] = item_row(job->of, rows[i]);
    return status;
}

static kr_status answer_count(const call *job, kr_error *err)
{
    uint64_t counts[PIECE];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    const kr_status status = probes_answer(job->probes, 0, job->n, &sink, err);
    int64_t *out = (int64_t *)duckdb_vector_get_data(job->output) + job->first;
    for (idx_t i = 0; status == KR_OK && i < job->n; ++i) {
        out[i] = (int64_t)counts[i];
        if (is_unknown(job, i))
            set_null(job->output, job->first + i);
    }
    return status;
}

static kr_status answer_exists(const call *job, kr_error *err)
{
    uint8_t bits[PIECE / 8 + 1];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_EXISTS, .out = bits};
    const kr_status status = probes_answer(job->probes, 0, job->n, &sink, err);
    bool *out = (bool *)duckdb_vector_get_data(job->output) + job->first;
    for (idx_t i = 0; status == KR_OK && i < job->n; ++i) {
        out[i] = bits[i / 8] >> i % 8 & 1;
        if (is_unknown(job, i))
            set_null(job->output, job->first + i);
    }
    return status;
}

/* Lists of the child vector, which grows behind what other names have put there. */
static kr_status answer_rows(const call *job, kr_error *err)
{
    uint64_t offsets[PIECE + 1], n = job->n;
    uint32_t *rows = NULL;
    const kr_status status = probes_rows(job->probes, 0, &n, UINT64_MAX, offsets, &rows, err);
    if (status != KR_OK)
        return status;
    duckdb_list_entry *out = (duckdb_list_entry *)duckdb_vector_get_data(job->output) + job->first;
    const idx_t before = duckdb_list_vector_get_size(job->output);
    if (duckdb_list_vector_reserve(job->output, before + offsets[job->n]) != DuckDBSuccess ||
        duckdb_list_vector_set_size(job->output, before + offsets[job->n]) != DuckDBSuccess) {
        free(rows);
        return fail(err, KR_ERR_HOST_MEMORY, "DuckDB has no room for a list of %llu rows",
                    (unsigned long long)offsets[job->n]);
    }
    int64_t *to = (int64_t *)duckdb_vector_get_data(duckdb_list_vector_get_child(job->output)) + before;
    for (uint64_t r = 0; r < offsets[job->n]; ++r)
        to[r] = item_row(job->of, rows[r]);
    free(rows);
    for (idx_t i = 0; i < job->n; ++i) {
        out[i] = (duckdb_list_entry){before + offsets[i], offsets[i + 1] - offsets[i]};
        if (is_unknown(job, i))
            set_null(job->output, job->first + i);
    }
    return KR_OK;
}

/* Sums of values of that type. They come with the smallest value, whose `valid` tells sums of nothing, which
 * are NULL. */
static kr_status sum(const call *job, kr_type type, kr_result result, void *sums, uint8_t *valid,
                     kr_error *err)
{
    uint64_t least[PIECE];
    const column_type *has = &job->of->values.type;
    if (has->type != type)
        return fail(err, KR_ERR_TYPE, "'%s' has %s%s: %s", job->of->name,
                    has->type ? "values of " : "no values", has->type ? sql_name(has->sql) : "",
                    !has->type       ? "build it with keyray_build(name, key, row, 'best', value)"
                    : type == KR_I64 ? "use keyray_fsum"
                                     : "use keyray_sum");
    const kr_column values = column_view(&job->of->values);
    kr_sink sink = {.struct_size = sizeof sink, .result = result, .values = &values, .out = sums};
    const kr_status status = probes_answer(job->probes, 0, job->n, &sink, err);
    sink = (kr_sink){
        .struct_size = sizeof sink, .result = KR_RESULT_MIN, .values = &values, .out = least, .valid = valid};
    return status == KR_OK ? probes_answer(job->probes, 0, job->n, &sink, err) : status;
}

static kr_status answer_sum(const call *job, kr_error *err)
{
    uint64_t sums[2 * PIECE];
    uint8_t valid[PIECE / 8 + 1];
    duckdb_hugeint *out = (duckdb_hugeint *)duckdb_vector_get_data(job->output) + job->first;
    const kr_status status = sum(job, KR_I64, KR_RESULT_SUM_WIDE, sums, valid, err);
    for (idx_t i = 0; status == KR_OK && i < job->n; ++i) {
        out[i] = (duckdb_hugeint){sums[2 * i], (int64_t)sums[2 * i + 1]};
        if (!(valid[i / 8] >> i % 8 & 1))
            set_null(job->output, job->first + i);
    }
    return status;
}

static kr_status answer_fsum(const call *job, kr_error *err)
{
    uint8_t valid[PIECE / 8 + 1];
    double *out = (double *)duckdb_vector_get_data(job->output) + job->first;
    const kr_status status = sum(job, KR_F64, KR_RESULT_SUM, out, valid, err);
    for (idx_t i = 0; status == KR_OK && i < job->n; ++i)
        if (!(valid[i / 8] >> i % 8 & 1))
            set_null(job->output, job->first + i);
    return status;
}

/* ---- Calls ------------------------------------------------------------------------------------ */

static int is_same_text(duckdb_vector texts, idx_t one, idx_t other)
{
    const duckdb_string_t *all = duckdb_vector_get_data(texts);
    if (!memcmp(all + one, all + other, sizeof *all))
        return 1;
    const span a = text_at(texts, one), b = text_at(texts, other);
    return a.nbytes == b.nbytes && !memcmp(a.data, b.data, a.nbytes);
}

static int is_same_number(duckdb_vector numbers, idx_t one, idx_t other)
{
    const duckdb_type type = type_of(numbers);
    const idx_t size = type == DUCKDB_TYPE_BIGINT || type == DUCKDB_TYPE_DOUBLE   ? 8
                       : type == DUCKDB_TYPE_INTEGER || type == DUCKDB_TYPE_FLOAT ? 4
                       : type == DUCKDB_TYPE_SMALLINT                             ? 2
                       : type == DUCKDB_TYPE_TINYINT                              ? 1
                                                                                  : 0;
    const char *all = duckdb_vector_get_data(numbers);
    if (is_null(numbers, one) || is_null(numbers, other) || !size)
        return is_null(numbers, one) && is_null(numbers, other);
    return !memcmp(all + one * size, all + other * size, size);
}

/* A tolerance in units of the last field of the probes: days, microseconds, ... */
static kr_status set_tolerance(probes *to, duckdb_vector vector, idx_t row, kr_error *err)
{
    const duckdb_type type = type_of(vector);
    const column_type *key = &to->of->columns[to->n_columns - 1];
    const void *data = duckdb_vector_get_data(vector);
    int64_t whole = 0;
    double real = 0;
    int is_number = 1;
    if (is_null(vector, row))
        return KR_OK;
    const int is_real = type == DUCKDB_TYPE_FLOAT || type == DUCKDB_TYPE_DOUBLE;
    switch (type) {
    case DUCKDB_TYPE_TINYINT: whole = ((const int8_t *)data)[row]; break;
    case DUCKDB_TYPE_SMALLINT: whole = ((const int16_t *)data)[row]; break;
    case DUCKDB_TYPE_INTEGER: whole = ((const int32_t *)data)[row]; break;
    case DUCKDB_TYPE_BIGINT: whole = ((const int64_t *)data)[row]; break;
    case DUCKDB_TYPE_FLOAT: real = (double)((const float *)data)[row]; break;
    case DUCKDB_TYPE_DOUBLE: real = ((const double *)data)[row]; break;
    default: is_number = 0;
    }
    const int is_float = key->type == KR_F32 || key->type == KR_F64;
    if (!is_number || (is_real && !is_float))
        return fail(err, KR_ERR_TYPE, "the tolerance of '%s' is a %s, not %s: write CAST(... AS %s)",
                    to->of->name, is_float ? "DOUBLE" : "BIGINT in the unit of its keys", sql_name(type),
                    is_float ? "DOUBLE" : "BIGINT");
    to->asked.nearest.limited = 1;
    to->asked.nearest.tolerance = is_float ? 0 : whole;
    to->asked.nearest.float_tolerance = is_real ? real : is_float ? (double)whole : 0;
    return KR_OK;
}

static kr_status ask(const shape *as, registry *in, duckdb_data_chunk input, duckdb_vector output,
                     idx_t first, idx_t n, kr_error *err)
{
    duckdb_vector lower = duckdb_data_chunk_get_vector(input, 1);
    duckdb_vector upper = as->is_range ? duckdb_data_chunk_get_vector(input, 2) : NULL;
    question asked = {.is_range = as->is_range};
    probes made = {0};
    item *of = NULL;
    kr_status status =
        registry_find(in, text_at(duckdb_data_chunk_get_vector(input, 0), first), ITEM_INDEX, &of, err);
    if (status == KR_OK && as->has_side)
        status = question_of_side(text_at(duckdb_data_chunk_get_vector(input, 2), first), &asked, err);
    if (status == KR_OK)
        status = probes_init(&made, of, &asked, lower, upper, err);
    if (status == KR_OK && as->has_tolerance && type_of(lower) != DUCKDB_TYPE_SQLNULL)
        status = set_tolerance(&made, duckdb_data_chunk_get_vector(input, 3), first, err);
    if (status == KR_OK)
        status = probes_add(&made, lower, upper, first, n, err);
    const call job = {of, &made, lower, upper, output, first, n};
    if (status == KR_OK)
        status = as->answer(&job, err);
    probes_free(&made);
    item_leave(in, of);
    return status;
}

/* Neighbours that ask one index in one way are asked together. */
static void answer_chunk(const shape *as, duckdb_function_info info, duckdb_data_chunk input,
                         duckdb_vector output)
{
    registry *in = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector names = duckdb_data_chunk_get_vector(input, 0);
    duckdb_vector sides = as->has_side ? duckdb_data_chunk_get_vector(input, 2) : NULL;
    duckdb_vector limits = as->has_tolerance ? duckdb_data_chunk_get_vector(input, 3) : NULL;
    const idx_t n = duckdb_data_chunk_get_size(input);
    for (idx_t i = 0, end; i < n; i = end) {
        const int unknown = is_null(names, i) || (sides && is_null(sides, i));
        end = i + 1;
        if (unknown) {
            set_null(output, i);
            continue;
        }
        while (end < n && end - i < PIECE && (!limits || is_same_number(limits, i, end)) &&
               !is_null(names, end) && is_same_text(names, i, end) &&
               (!sides || (!is_null(sides, end) && is_same_text(sides, i, end))))
            ++end;
        kr_error err = {0};
        char message[MESSAGE_NBYTES];
        if (ask(as, in, input, output, i, end - i, &err) != KR_OK) {
            put_message(message, as->name, &err);
            duckdb_scalar_function_set_error(info, message);
            return;
        }
    }
}

#define FUNCTION(function, name, is_range, has_side, has_tolerance, answer)                        \
    static void function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) \
    {                                                                                              \
        static const shape as = {name, is_range, has_side, has_tolerance, answer};                 \
        answer_chunk(&as, info, input, output);                                                    \
    }
FUNCTION(row, "keyray_row", 0, 0, 0, answer_row)
FUNCTION(rows, "keyray_rows", 0, 0, 0, answer_rows)
FUNCTION(rows_between, "keyray_rows", 1, 0, 0, answer_rows)
FUNCTION(exists, "keyray_exists", 0, 0, 0, answer_exists)
FUNCTION(exists_between, "keyray_exists", 1, 0, 0, answer_exists)
FUNCTION(count, "keyray_count", 0, 0, 0, answer_count)
FUNCTION(count_between, "keyray_count", 1, 0, 0, answer_count)
FUNCTION(sum_of, "keyray_sum", 0, 0, 0, answer_sum)
FUNCTION(sum_between, "keyray_sum", 1, 0, 0, answer_sum)
FUNCTION(fsum_of, "keyray_fsum", 0, 0, 0, answer_fsum)
FUNCTION(fsum_between, "keyray_fsum", 1, 0, 0, answer_fsum)
FUNCTION(nearest, "keyray_nearest", 0, 1, 0, answer_row)
FUNCTION(nearest_within, "keyray_nearest", 0, 1, 1, answer_row)

void register_lookups(registering *job)
{
    static const scalar functions[] = {{"keyray_row", "ta", DUCKDB_TYPE_BIGINT, row},
                                       {"keyray_rows", "ta", DUCKDB_TYPE_LIST, rows},
                                       {"keyray_rows", "taa", DUCKDB_TYPE_LIST, rows_between},
                                       {"keyray_exists", "ta", DUCKDB_TYPE_BOOLEAN, exists},
                                       {"keyray_exists", "taa", DUCKDB_TYPE_BOOLEAN, exists_between},
                                       {"keyray_count", "ta", DUCKDB_TYPE_BIGINT, count},
                                       {"keyray_count", "taa", DUCKDB_TYPE_BIGINT, count_between},
                                       {"keyray_sum", "ta", DUCKDB_TYPE_HUGEINT, sum_of},
                                       {"keyray_sum", "taa", DUCKDB_TYPE_HUGEINT, sum_between},
                                       {"keyray_fsum", "ta", DUCKDB_TYPE_DOUBLE, fsum_of},
                                       {"keyray_fsum", "taa", DUCKDB_TYPE_DOUBLE, fsum_between},
                                       {"keyray_nearest", "tat", DUCKDB_TYPE_BIGINT, nearest},
                                       {"keyray_nearest", "tata", DUCKDB_TYPE_BIGINT, nearest_within}};
    register_scalars(job, functions, sizeof functions / sizeof *functions);
}
