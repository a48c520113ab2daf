/* Narrow copies of kind `full`: which columns have one, conditions on them against loops over the rows, and
 * what is said of them. */
#include "narrow.h"

/* ---- Every type, span and place -------------------------------------------------------------- */

static void check_column(kr_type type, uint64_t base, uint64_t span, uint64_t nulls)
{
    const uint64_t most = most_of(type), n = 1030 + kr_rng_below(&rng, 1200);
    const uint64_t other = kr_rng_below(&rng, 3) ? kr_rng_below(&rng, most) : base, left = most - other;
    begin(type);
    add_rows(0, n, base, span, nulls);
    add_rows(1, n, other, kr_rng_below(&rng, 2) ? left < 200 ? left : 200 : 0, nulls ? 0 : 5);
    count_rows(n);
    ask();
    for (uint32_t s = 0; s < SPECS; ++s) {
        kr_table *table = create(specs[s]);
        check_facts(table, specs[s], 0);
        check_scans(table, specs[s]);
        kr_table_destroy(table);
    }
    forget();
}

/* Floats and bytes have no copies. */
static void types_and_spans(void **state)
{
    static const uint64_t spans[] = {0, 1, 200, 254, 255, 256, 40000, 65534, 65535, 65536, 1000000};
    (void)state;
    rng = (kr_rng){11};
    for (uint32_t t = 0; t < TYPES; ++t)
        for (uint32_t s = 0; s < sizeof spans / sizeof *spans; ++s) {
            const uint64_t most = kr_type_is_float(types[t]) ? 0xFF000000u : most_of(types[t]),
                           span = spans[s];
            if (span > most)
                continue;
            check_column(types[t], kr_type_is_float(types[t]) ? 0x800000 : 0, span, 7);
            check_column(types[t], (kr_type_is_float(types[t]) ? most - 0x800000 : most) - span, span, 0);
            check_column(types[t], most / 2 - span / 2, span, s % 2 ? 0 : 3);
        }
}

/* Comparisons of columns read both as they are: their copies begin at other values. */
static void columns_are_compared(void **state)
{
    static const char *const symbols[] = {"", "<", "<=", ">", ">=", "=", "<>"};
    (void)state;
    rng = (kr_rng){5};
    for (uint32_t t = 0; t < TYPES - 2; ++t) {
        begin(types[t]);
        add_rows(0, 2100, 100, 90, 9);
        add_rows(1, 2100, 140, 110, 0);
        count_rows(2100);
        forget();
        for (uint32_t c = KR_LESS; c <= KR_NOT_EQUAL; ++c) {
            char text[40];
            snprintf(text, sizeof text, "a %s b", symbols[c]);
            assert_int_equal(kr_condition_parse(text, &asked.conditions[asked.n], NULL), KR_OK);
            for (uint64_t r = 0; r < m.n; ++r) {
                const int by =
                    kr_value_compare(types[t], kr_value_at(m.columns, r), kr_value_at(m.columns + 1, r));
                const int holds = c == KR_LESS            ? by < 0
                                  : c == KR_LESS_EQUAL    ? by <= 0
                                  : c == KR_GREATER       ? by > 0
                                  : c == KR_GREATER_EQUAL ? by >= 0
                                  : c == KR_EQUAL         ? by == 0
                                                          : by != 0;
                expect_row(r, holds && kr_value_is_valid(m.columns, r));
            }
            ++asked.n;
        }
        for (uint32_t i = 0; i < 6; ++i)
            ask_random(i % 2);
        for (uint32_t i = 0; i < 12; ++i)
            add_both((uint32_t)kr_rng_below(&rng, 6), 6 + (uint32_t)kr_rng_below(&rng, 6), i % 2);
        for (uint32_t s = 0; s < SPECS; ++s) {
            kr_table *table = create(specs[s]);
            check_scans(table, specs[s]);
            kr_table_destroy(table);
        }
        forget();
    }
}

/* ---- What is said and found ------------------------------------------------------------------ */

/* A column that changes under its table, which is against the rules, is another than its copy. */
static void validate_compares_with_the_column(void **state)
{
    (void)state;
    rng = (kr_rng){1};
    begin(KR_U32);
    add_rows(0, 3000, 77, 100, 5);
    add_rows(1, 3000, 77, 100, 0);
    count_rows(3000);
    kr_table *table = create("full:zones=off");
    kr_error err = {0};
    uint32_t *values = (uint32_t *)(void *)m.data[1];
    ++values[2999];
    assert_int_equal(kr_table_validate(table, &err), KR_ERR_INVARIANT);
    assert_non_null(strstr(err.text, "1 of 3000 rows of column 'b' "));
    --values[2999];
    assert_int_equal(kr_table_validate(table, &err), KR_OK);
    kr_table_destroy(table);
}

static void plans_name_copies(void **state)
{
    char text[1000];
    kr_condition *condition = NULL;
    (void)state;
    begin(KR_TIMESTAMP64);
    add_rows(0, 100, 500, 255, 0);
    add_rows(1, 100, 500, 256, 0);
    count_rows(100);
    kr_table *table = create("full");
    assert_int_equal(kr_condition_parse("a < 9 and b > 7 or a < b", &condition, NULL), KR_OK);
    assert_int_equal(kr_scan_explain(table, condition, text, sizeof text, NULL), KR_OK);
    assert_non_null(strstr(text, "\na: a narrow copy is read, 1 byte for each row in the place of 8\n"
                                 "b: a narrow copy is read, 2 bytes for each row in the place of 8\n"));
    assert_non_null(strstr(text, "a < b\na <= 8\n")); /* which reads columns as they are */
    kr_table_destroy(table);
    table = create("full:narrow=off");
    assert_int_equal(kr_scan_explain(table, condition, text, sizeof text, NULL), KR_OK);
    assert_null(strstr(text, "narrow"));
    kr_table_destroy(table);
    kr_condition_destroy(condition);
}

static void expect_step(kr_table *table, const char *const *texts, uint32_t n, const char *want)
{
    uint64_t counts[2];
    kr_scan_sink sinks[2];
    const kr_scan_sink *pointers[] = {sinks, sinks + 1};
    kr_condition *conditions[2] = {NULL};
    kr_report *report = NULL;
    kr_error err = {0};
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    const kr_scan_options options = {.struct_size = sizeof options, .report = report};
    for (uint32_t i = 0; i < n; ++i) {
        sinks[i] = (kr_scan_sink){.struct_size = sizeof *sinks, .result = KR_SCAN_COUNT, .out = counts + i};
        assert_int_equal(kr_condition_parse(texts[i], conditions + i, NULL), KR_OK);
    }
    if (kr_scan(table, (const kr_condition *const *)conditions, pointers, n, &options, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_non_null(kr_report_step_text(report, 0));
    assert_string_equal(kr_report_step_text(report, 0), want);
    for (uint32_t i = 0; i < n; ++i)
        kr_condition_destroy(conditions[i]);
    kr_report_destroy(report);
}

/* Also: samples are those of what is read, so that few rows are seen to be few. */
static void reports_count_copies(void **state)
{
    static const char *const both[] = {"a < 300", "a = 320 and b < 520"},
                             *const few[] = {"a = 250 and b > 0"}, *const either[] = {"a = 320 or b < 520"},
                             *const all[] = {"a > 300 and a < b"};
    (void)state;
    rng = (kr_rng){2};
    begin(KR_I32);
    add_rows(0, 3000, most_of(KR_I32) / 2 + 301, 50, 0);
    add_rows(1, 3000, most_of(KR_I32) / 2 + 500, 90000, 0);
    count_rows(3000);
    kr_table *table = create("full");
    expect_step(table, few, 1, "full: 2 predicates in one pass, branching, 1 of them in narrow copies");
    expect_step(table, all, 1,
                "full: 2 predicates in one pass, reading every row, 1 of them in narrow copies");
    expect_step(table, either, 1,
                "full: 2 predicates under AND and OR in one pass, 1 of them in narrow copies");
    expect_step(table, both, 2,
                "full: 2 conditions, 2 lanes, 2 columns, 3 edges in one pass, 1 of them in narrow copies");
    kr_table_destroy(table);
    forget();
}

/* Estimates do not know the values: they are those of the widest copies that the option allows. */
static void check_estimate(const char *spec)
{
    kr_estimate need = {.struct_size = sizeof need};
    kr_table_info info = {.struct_size = sizeof info};
    kr_table *table = create(spec);
    assert_int_equal(kr_table_query(table, &info, NULL), KR_OK);
    assert_int_equal(kr_table_estimate(device, spec, m.columns, COLUMNS, NULL, &need, NULL), KR_OK);
    if (need.footprint_nbytes < info.footprint_nbytes || need.peak_nbytes < info.peak_nbytes)
        fail_msg("%s, %s: %llu and %llu bytes, but %llu and %llu are estimated", spec,
                 kr_type_name(m.columns[0].type), (unsigned long long)info.footprint_nbytes,
                 (unsigned long long)info.peak_nbytes, (unsigned long long)need.footprint_nbytes,
                 (unsigned long long)need.peak_nbytes);
    kr_table_destroy(table);
}

/* Zones that a copy is made of take more than samples do. */
static void estimates_of_many_rows(void)
{
    enum { MANY = 1 << 20 };
    static uint64_t many[MANY];
    for (uint32_t i = 0; i < MANY; ++i)
        many[i] = 1000 + i % 60000;
    begin(KR_I64);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        m.columns[c] = (kr_column){.type = KR_I64, .count = MANY, .data = many};
    for (uint32_t s = 0; s < SPECS; ++s)
        check_estimate(specs[s]);
}

static void estimates_are_not_too_low(void **state)
{
    (void)state;
    estimates_of_many_rows();
    for (uint32_t t = 0; t < TYPES; ++t)
        for (uint32_t s = 0; s < SPECS; ++s)
            for (uint64_t span = 100; span <= 60000; span += 59900) {
                if (span > most_of(types[t]))
                    continue;
                begin(types[t]);
                for (uint32_t c = 0; c < COLUMNS; ++c)
                    add_rows(c, ROWS_MOST, kr_type_is_float(types[t]) ? 1 << 30 : 0, span, 0);
                count_rows(ROWS_MOST);
                check_estimate(specs[s]);
            }
}

/* Each allocation of a build in turn. Where a copy finds no memory, the error says what helps. */
static void failed_builds_leave_nothing(void **state)
{
    kr_status status = KR_ERR_DEVICE_MEMORY;
    const uint64_t in_use = atomic_load(&device->in_use_nbytes);
    uint32_t seen = 0;
    (void)state;
    begin(KR_I32);
    add_rows(0, 5000, 1000, 300, 4);
    add_rows(1, 5000, 1000, 30, 0);
    count_rows(5000);
    for (uint64_t n = 1; status != KR_OK; ++n) {
        kr_table *table = NULL;
        kr_error err = {0};
        fail_at = n;
        status =
            kr_table_create(device, "full:narrow=on", m.columns, names, COLUMNS, NULL, NULL, &table, &err);
        fail_at = 0;
        assert_true(status == KR_OK || status == KR_ERR_DEVICE_MEMORY);
        if (strstr(err.text, "a narrow copy of a column") && strstr(err.text, "narrow=off"))
            ++seen;
        kr_table_destroy(table);
        assert_int_equal(atomic_load(&device->in_use_nbytes), in_use);
    }
    assert_int_equal(seen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_spans),
        cmocka_unit_test(columns_are_compared),
        cmocka_unit_test(validate_compares_with_the_column),
        cmocka_unit_test(plans_name_copies),
        cmocka_unit_test(reports_count_copies),
        cmocka_unit_test(estimates_are_not_too_low),
        cmocka_unit_test(failed_builds_leave_nothing),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
