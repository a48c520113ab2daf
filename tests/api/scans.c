/* Tables and scans through the interface: results, copies, alive rows, errors. */
#include "check.h"
#include "device_name.h"

#include <math.h>

enum { N = 5000, WORDS = (N + 31) / 32, COLUMNS = 4 };

static uint32_t small[N];
static int32_t signed_[N];
static double real[N];
static uint8_t validity[N / 8 + 1];
static const kr_column columns[COLUMNS] = {
    {.type = KR_U32, .count = N, .data = small},
    {.type = KR_I32, .count = N, .data = signed_, .validity = validity},
    {.type = KR_F64, .count = N, .data = real},
    {.type = KR_U32, .count = N, .data = small},
};
static const char *const names[COLUMNS] = {"a", "b", "c", "d"};
static kr_device *device;
static kr_table *table;

static int is_valid(uint64_t i)
{
    return validity[i / 8] >> (i % 8) & 1;
}

static kr_condition *parsed(const char *text)
{
    kr_condition *condition = NULL;
    WORKS(kr_condition_parse(text, &condition, &err));
    return condition;
}

static kr_status ask(kr_table *of, const char *where, const kr_scan_sink *sink, const uint32_t *alive,
                     kr_error *err)
{
    kr_condition *condition = parsed(where);
    const kr_condition *conditions[] = {condition};
    const kr_scan_options options = {.struct_size = sizeof options, .alive = alive};
    const kr_status status = kr_scan(of, conditions, &sink, 1, &options, NULL, err);
    kr_condition_destroy(condition);
    return status;
}

static kr_scan_sink sink_of(kr_scan_result result, uint32_t column, void *out)
{
    return (kr_scan_sink){
        .struct_size = sizeof(kr_scan_sink), .result = result, .column = column, .out = out};
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Rows with a < limit whose bit in `alive` is 1, against loops over the columns. */
static void check_results(uint32_t limit, const uint32_t *alive)
{
    uint64_t count = 1, want = 0, unsigned_sum = 0;
    int64_t sum = 0, got_sum = 1;
    int32_t least = INT32_MAX, most = INT32_MIN, got_least = 1, got_most = 1;
    double real_sum = 0, got_real = 1;
    uint8_t valid = 9;
    int any = 0;
    char where[32];
    snprintf(where, sizeof where, "a < %u", limit);
    for (uint64_t i = 0; i < N; ++i) {
        if (small[i] >= limit || (alive && !(alive[i / 32] >> (i % 32) & 1)))
            continue;
        ++want;
        unsigned_sum += small[i];
        real_sum += real[i];
        any |= is_valid(i);
        sum += is_valid(i) ? signed_[i] : 0;
        least = is_valid(i) && signed_[i] < least ? signed_[i] : least;
        most = is_valid(i) && signed_[i] > most ? signed_[i] : most;
    }
    kr_scan_sink sink = sink_of(KR_SCAN_COUNT, 0, &count);
    WORKS(ask(table, where, &sink, alive, &err));
    CHECK(count == want);
    sink = sink_of(KR_SCAN_SUM, 0, &count);
    sink.valid = &valid;
    WORKS(ask(table, where, &sink, alive, &err));
    CHECK(count == unsigned_sum && valid == (want > 0));
    sink = sink_of(KR_SCAN_SUM, 1, &got_sum);
    WORKS(ask(table, where, &sink, alive, &err));
    CHECK(got_sum == sum);
    sink = sink_of(KR_SCAN_SUM, 2, &got_real);
    WORKS(ask(table, where, &sink, alive, &err));
    CHECK(fabs(got_real - real_sum) < 1e-6);
    sink = sink_of(KR_SCAN_MIN, 1, &got_least);
    sink.valid = &valid;
    WORKS(ask(table, where, &sink, alive, &err));
    CHECK(valid == any && got_least == (any ? least : 0));
    sink = sink_of(KR_SCAN_MAX, 1, &got_most);
    sink.valid = &valid;
    WORKS(ask(table, where, &sink, alive, &err));
    CHECK(valid == any && got_most == (any ? most : 0));
}

static void check_all_results(void)
{
    uint32_t alive[WORDS];
    for (uint32_t w = 0; w < WORDS; ++w)
        alive[w] = w % 3 ? 0x5A5A5A5Au ^ w : 0;
    for (uint32_t limit = 0; limit <= 1000; limit += 125) {
        check_results(limit, NULL);
        check_results(limit, alive); /* bits past the last row are set there */
    }
}

/* The words of a bitmap, and no others, are written; row ids fit exactly. */
static void check_rooms(void)
{
    uint32_t bitmap[WORDS + 1], rows[N + 1];
    uint64_t n = 0;
    memset(bitmap, 0xA5, sizeof bitmap);
    memset(rows, 0xA5, sizeof rows);
    kr_scan_sink sink = sink_of(KR_SCAN_BITMAP, 0, bitmap);
    WORKS(ask(table, "", &sink, NULL, &err));
    for (uint64_t w = 0; w + 1 < WORDS; ++w)
        CHECK(bitmap[w] == UINT32_MAX);
    CHECK(bitmap[WORDS - 1] == (1u << N % 32) - 1 && bitmap[WORDS] == 0xA5A5A5A5u);
    sink = sink_of(KR_SCAN_ROWS, 0, &n);
    sink.rows = rows;
    sink.rows_capacity = N;
    WORKS(ask(table, "not a >= 1000", &sink, NULL, &err));
    CHECK(n == N && rows[0] == 0 && rows[N - 1] == N - 1 && rows[N] == 0xA5A5A5A5u);
    sink.rows_capacity = N - 1;
    REFUSED(KR_ERR_LIMIT, ask(table, "", &sink, NULL, &err));
    sink.rows = NULL;
    WORKS(ask(table, "a < 500", &sink, NULL, &err));
    CHECK(n < N);
}

/* Chained filters: the bitmap of one scan is `alive` of the next. */
static void check_chain(void)
{
    uint32_t first[WORDS], second[WORDS], both[WORDS];
    kr_scan_sink sink = sink_of(KR_SCAN_BITMAP, 0, first);
    WORKS(ask(table, "a < 700", &sink, NULL, &err));
    sink.out = second;
    WORKS(ask(table, "c > 0.25 or b is null", &sink, first, &err));
    sink.out = both;
    WORKS(ask(table, "a < 700 and (c > 0.25 or b is null)", &sink, NULL, &err));
    CHECK(memcmp(second, both, sizeof both) == 0);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void check_copies(void)
{
    static uint32_t changing[N + 1];
    const kr_column one = {.type = KR_U32, .count = N, .data = changing + 1}; /* not aligned to 16 bytes */
    kr_table_info info = {.struct_size = sizeof info};
    kr_estimate need = {.struct_size = sizeof need};
    for (uint32_t copy = KR_COPY_AUTO; copy <= KR_COPY_NEVER; ++copy) {
        const kr_table_options options = {.struct_size = sizeof options, .copy = (kr_copy)copy};
        kr_table *made = NULL;
        uint64_t count = 0;
        memset(changing, 0, sizeof changing);
        WORKS(kr_table_create(device, "full:narrow=off", &one, NULL, 1, &options, NULL, &made, &err));
        WORKS(kr_table_estimate(device, "full:narrow=off", &one, 1, &options, &need, &err));
        WORKS(kr_table_query(made, &info, &err));
        CHECK(info.copied_columns == (copy == KR_COPY_ALWAYS) && info.rows == N && info.columns == 1);
        CHECK(info.footprint_nbytes == info.copied_columns * N * 4 + (N + 1023) / 1024 * 8 &&
              need.footprint_nbytes >= info.footprint_nbytes);
        CHECK(need.peak_nbytes >= info.peak_nbytes && need.peak_nbytes <= 4 * info.peak_nbytes + 65536);
        WORKS(kr_table_validate(made, &err));
        changing[1] = 7;
        const kr_scan_sink sink = sink_of(KR_SCAN_COUNT, 0, &count);
        WORKS(ask(made, "c0 = 7", &sink, NULL, &err));
        CHECK(count == (copy != KR_COPY_ALWAYS)); /* a copy does not see it */
        if (copy != KR_COPY_ALWAYS)
            REFUSED(KR_ERR_INVARIANT, kr_table_validate(made, &err)); /* its zone does not hold 7 */
        kr_table_destroy(made);
    }
}

/* A table lends what it was made of; the caller's memory where it references that. */
static void check_columns(void)
{
    kr_column lent, after = {.count = 77};
    const char *name = NULL;
    kr_unit unit = KR_UNIT_NS;
    uint8_t *found = malloc(N * sizeof(double));
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        const uint64_t nbytes = (uint64_t)N * kr_type_nbytes(columns[c].type);
        WORKS(kr_table_column(table, c, &name, &unit, &lent, &err));
        CHECK(!strcmp(name, names[c]) && unit == KR_UNIT_NONE && lent.type == columns[c].type &&
              lent.count == N && !lent.validity == !columns[c].validity);
        WORKS(kr_memory_copy(device, found, lent.data, nbytes, NULL, &err));
        CHECK(!memcmp(found, columns[c].data, nbytes));
    }
    WORKS(kr_table_column(table, 0, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_column(table, COLUMNS, NULL, NULL, &after, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_column(NULL, 0, NULL, NULL, &after, &err));
    CHECK(after.count == 77);
    free(found);
}

/* "best" is bindex while memory is plenty, with fewer vectors or as full where it is not. */
static void check_best(void)
{
    static const struct {
        uint64_t cap;
        const char *spec, *reason;
    } of[] = {{1 << 30, "bindex:vectors=128", "building it takes at most a quarter"},
              {2 << 20, "bindex:vectors=32", "with 32 it does not"},
              {200 << 10, "full", "even with 32 vectors"}};
    for (uint32_t i = 0; i < 3; ++i) {
        const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = of[i].cap};
        kr_device *capped = NULL;
        kr_table *made = NULL;
        kr_table_info info = {.struct_size = sizeof info};
        WORKS(kr_device_open(device_name, &options, &capped, &err));
        WORKS(kr_table_create(capped, "best", columns, names, COLUMNS, NULL, NULL, &made, &err));
        if (made)
            WORKS(kr_table_query(made, &info, &err));
        CHECK(!strncmp(info.spec, of[i].spec, strlen(of[i].spec)));
        CHECK(strstr(info.reason, of[i].reason) != NULL);
        kr_table_destroy(made);
        kr_device_close(capped);
    }
}

static void check_empty(void)
{
    const kr_column none = {.type = KR_I64};
    kr_table *made = NULL;
    uint64_t count = 9;
    int64_t least = 9;
    uint8_t valid = 9;
    WORKS(kr_table_create(device, "full", &none, NULL, 1, NULL, NULL, &made, &err));
    kr_scan_sink sink = sink_of(KR_SCAN_COUNT, 0, &count);
    WORKS(ask(made, "c0 < 5", &sink, NULL, &err));
    CHECK(count == 0);
    sink = sink_of(KR_SCAN_MIN, 0, &least);
    sink.valid = &valid;
    WORKS(ask(made, "", &sink, NULL, &err));
    CHECK(least == 0 && valid == 0);
    count = 9;
    sink = sink_of(KR_SCAN_ROWS, 0, &count);
    WORKS(ask(made, "", &sink, NULL, &err));
    CHECK(count == 0);
    WORKS(kr_scan(made, NULL, NULL, 0, NULL, NULL, &err));
    kr_table_destroy(made);
}

static void check_facts(void)
{
    kr_report *report = NULL;
    uint64_t count = 0;
    char text[256];
    kr_condition *condition = parsed("a < 5 and b is null or c > 2.5");
    const kr_condition *conditions[] = {condition};
    const kr_scan_sink sink = sink_of(KR_SCAN_COUNT, 0, &count), *sinks[] = {&sink};
    WORKS(kr_report_create(&report, &err));
    const kr_scan_options options = {.struct_size = sizeof options, .report = report, .count_work = 1};
    for (int i = 0; i < 2; ++i)
        WORKS(kr_scan(table, conditions, sinks, 1, &options, NULL, &err));
    CHECK(kr_report_probe_count(report) == 1 && kr_report_step_count(report) == 1);
    CHECK(kr_report_step_text(report, 0) && strstr(kr_report_step_text(report, 0), "full"));
    CHECK(!kr_report_step_text(report, 1) && kr_report_counter_count(report) == 6);
    CHECK(strcmp(kr_report_counter_name(report, 0), "rays") == 0 && kr_report_counter_value(report, 0) == 0);
    CHECK(kr_report_phase_count(report) >= 2);
    WORKS(kr_scan_explain(table, condition, text, sizeof text, &err));
    CHECK(strstr(text, "a <= 4\n") && strstr(text, "b is null\n") && strstr(text, "any of the last 2\n"));
    WORKS(kr_scan_explain(table, condition, text, 4, &err));
    CHECK(strlen(text) == 3);
    CHECK(kr_table_component_count(table) >= 1 && !strcmp(kr_table_component_name(table, 0), "columns"));
    CHECK(!kr_table_component_name(table, 99) && !kr_table_component_nbytes(table, 99));
    CHECK(kr_table_phase_count(table) > 0 && !kr_table_phase_name(table, 99) &&
          kr_table_phase_seconds(table, 99) == 0);
    CHECK(!kr_table_counter_name(table, 99) && kr_table_counter_value(table, 99) == 0);
    kr_condition_destroy(condition);
    kr_report_destroy(report);
}

/* ---- Conditions made by calls ---------------------------------------------------------------- */

static kr_condition *compared(const char *column, kr_compare compare, const kr_column *values)
{
    kr_condition *condition = NULL;
    WORKS(kr_condition_compare(column, compare, values, &condition, &err));
    return condition;
}

static uint64_t count_of(const kr_condition *condition)
{
    uint64_t count = UINT64_MAX;
    const kr_scan_sink sink = sink_of(KR_SCAN_COUNT, 0, &count), *sinks[] = {&sink};
    WORKS(kr_scan(table, &condition, sinks, 1, NULL, NULL, &err));
    return count;
}

static void check_calls(void)
{
    static const int64_t two[] = {100, 300};
    static const double half[] = {0.5};
    static const uint8_t second[] = {2};
    const kr_column range = {.type = KR_I64, .count = 2, .data = two};
    const kr_column with_null = {.type = KR_I64, .count = 2, .data = two, .validity = second};
    const kr_column limit = {.type = KR_F64, .count = 1, .data = half};
    kr_condition *parts[] = {compared("a", KR_BETWEEN, &range), compared("b", KR_IS_NULL, NULL),
                             compared("c", KR_LESS, &limit), compared("a", KR_IN, &with_null), NULL};
    kr_condition *any = NULL, *not_any = NULL, *all = NULL, *none = NULL;
    WORKS(kr_condition_compare_columns("a", KR_EQUAL, "d", &parts[4], &err));
    WORKS(kr_condition_or((const kr_condition *const *)parts, 2, &any, &err));
    WORKS(kr_condition_not(any, &not_any, &err));
    WORKS(kr_condition_and((const kr_condition *const *)parts, 5, &all, &err));
    WORKS(kr_condition_or(NULL, 0, &none, &err));
    kr_condition *same[] = {
        parsed("a between 100 and 300 or b is null"), parsed("not (a between 100 and 300 or b is null)"),
        parsed("a between 100 and 300 and b is null and c < 0.5 and a in (null, 300) and a = d")};
    CHECK(count_of(any) == count_of(same[0]) && count_of(any) > 0);
    CHECK(count_of(not_any) == count_of(same[1]) && count_of(any) + count_of(not_any) == N);
    CHECK(count_of(all) == count_of(same[2]) && count_of(none) == 0 && count_of(parts[4]) == N);
    for (int i = 0; i < 5; ++i)
        kr_condition_destroy(parts[i]);
    for (int i = 0; i < 3; ++i)
        kr_condition_destroy(same[i]);
    kr_condition_destroy(none);
    kr_condition_destroy(all);
    kr_condition_destroy(not_any);
    kr_condition_destroy(any);
    kr_condition_destroy(NULL);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void refuse_conditions(void)
{
    const kr_column two = {.type = KR_U32, .count = 2, .data = small};
    const kr_column odd = {.type = KR_U32, .count = 1, .data = (const char *)small + 1};
    const kr_condition *const missing[] = {NULL};
    kr_condition *made = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_condition_parse(NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_parse("a < 5", NULL, &err));
    REFUSED(KR_ERR_FORMAT, kr_condition_parse("a <", &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare(NULL, KR_IS_NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare("a", (kr_compare)0, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare("a", KR_LESS, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare("a", KR_LESS, &two, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare("a", KR_LESS, &odd, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare("a", KR_IS_NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare_columns("a", KR_IN, "b", &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare_columns("a", KR_LESS, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_and(missing, 1, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_or(NULL, 1, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_condition_not(NULL, &made, &err));
    CHECK(!made);
}

/* Errors of specs name kinds of tables, not of indexes. */
static void refuse_specs(void)
{
    static const struct {
        const char *spec, *says;
    } of[] = {{"frob", "unknown kind 'frob'; kinds of tables: best, full, bindex"},
              {"best:updates=on", "best takes no options for tables"},
              {NULL, "give one of: best, full, bindex"}};
    kr_table *made = NULL;
    for (uint32_t i = 0; i < 3; ++i) {
        kr_error failed = {0};
        CHECK(kr_table_create(device, of[i].spec, columns, NULL, 2, NULL, NULL, &made, &failed) != KR_OK);
        CHECK(strstr(failed.text, of[i].says) && !strstr(failed.text, "array"));
    }
    CHECK(!made);
}

static void refuse_tables(void)
{
    static const char *const twice[] = {"a", "a"}, *const unnamed[] = {"a", ""};
    kr_column other[2] = {columns[0], columns[2]};
    kr_table_options options = {.struct_size = sizeof options, .copy = (kr_copy)7};
    kr_estimate need = {.struct_size = sizeof need};
    kr_table *made = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(NULL, "full", other, NULL, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", NULL, NULL, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", other, NULL, 0, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", other, NULL, 2, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", other, twice, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", other, unnamed, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", other, NULL, 2, &options, NULL, &made, &err));
    const kr_unit units[2] = {KR_UNIT_NONE, (kr_unit)5};
    options = (kr_table_options){.struct_size = sizeof options, .units = units};
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", other, NULL, 2, &options, NULL, &made, &err));
    REFUSED(KR_ERR_SPEC, kr_table_create(device, "frob", other, NULL, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_SPEC, kr_table_create(device, "best:updates=on", other, NULL, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, NULL, other, NULL, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_table_create(device, "array", other, NULL, 2, NULL, NULL, &made, &err));
    other[1].count = N - 1;
    REFUSED(KR_ERR_ARGUMENT, kr_table_create(device, "full", other, NULL, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_estimate(device, "full", other, 2, NULL, &need, &err));
    other[0].count = other[1].count = UINT64_C(1) << 32;
    other[0].data = other[1].data = NULL;
    REFUSED(KR_ERR_LIMIT, kr_table_estimate(device, "full", other, 2, NULL, &need, &err));
    other[0].type = (kr_type)99;
    REFUSED(KR_ERR_TYPE, kr_table_create(device, "full", other, NULL, 2, NULL, NULL, &made, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_query(NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_validate(NULL, &err));
    CHECK(!made);
    kr_table_destroy(NULL);
    /* A kind of scan makes no index. */
    kr_index *index = NULL;
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_create(device, "full", &columns[0], NULL, NULL, &index, &err));
}

static void refuse_scans(void)
{
    uint64_t out[WORDS];
    kr_scan_sink sink = sink_of(KR_SCAN_COUNT, 0, out);
    const kr_scan_sink *sinks[] = {&sink}, *const none[] = {NULL};
    kr_scan_options options = {.struct_size = sizeof options, .count_work = 2};
    REFUSED(KR_ERR_ARGUMENT, kr_scan(NULL, NULL, sinks, 1, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_scan(table, NULL, NULL, 1, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_scan(table, NULL, none, 1, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_scan(table, NULL, sinks, 1, &options, NULL, &err));
    options.count_work = 0;
    options.alive = (const uint32_t *)(uintptr_t)((const char *)small + 1);
    REFUSED(KR_ERR_ARGUMENT, kr_scan(table, NULL, sinks, 1, &options, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, ask(table, "zz < 5", &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, ask(table, "a < 'x'", &sink, NULL, &err));
    /* Of several conditions the error says which one. */
    kr_condition *two[2] = {NULL, NULL};
    const kr_scan_sink *both[] = {&sink, &sink};
    WORKS(kr_condition_parse("a < 5", &two[0], &err));
    WORKS(kr_condition_parse("a < 5 and zz < 5", &two[1], &err));
    kr_error wrong = {0};
    CHECK(kr_scan(table, (const kr_condition *const *)two, both, 2, NULL, NULL, &wrong) == KR_ERR_ARGUMENT);
    CHECK(strncmp(wrong.text, "conditions[1]: the table has no column 'zz' at character 11", 55) == 0);
    kr_condition_destroy(two[0]);
    kr_condition_destroy(two[1]);
    sink.out = NULL;
    REFUSED(KR_ERR_ARGUMENT, ask(table, "", &sink, NULL, &err));
    sink.out = (char *)out + 1;
    REFUSED(KR_ERR_ARGUMENT, ask(table, "", &sink, NULL, &err));
    sink = sink_of((kr_scan_result)99, 0, out);
    REFUSED(KR_ERR_ARGUMENT, ask(table, "", &sink, NULL, &err));
    sink = sink_of(KR_SCAN_SUM, COLUMNS, out);
    REFUSED(KR_ERR_ARGUMENT, ask(table, "", &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_scan_explain(NULL, NULL, (char *)out, 8, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_scan_explain(table, NULL, (char *)out, 0, &err));
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    for (uint32_t i = 0; i < N; ++i) {
        small[i] = (uint32_t)(i * 2654435761u) % 1000;
        signed_[i] = (int32_t)(small[i] * 7 % 200) - 100;
        real[i] = (double)(small[i] % 64) / 64;
        validity[i / 8] |= (uint8_t)((i % 7 != 0) << i % 8);
    }
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    WORKS(kr_table_create(device, "full", columns, names, COLUMNS, NULL, NULL, &table, &err));
    if (failures)
        return 1;
    check_all_results();
    check_rooms();
    check_chain();
    if (!strcmp(device_name, "cpu")) /* others always copy what is in host memory */
        check_copies();
    check_empty();
    check_columns();
    check_best();
    check_facts();
    check_calls();
    refuse_conditions();
    refuse_specs();
    refuse_tables();
    refuse_scans();
    kr_table_destroy(table);
    kr_device_close(device);
    return failures != 0;
}
