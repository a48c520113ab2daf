/* Narrow copies of kind `full`: which columns have one, conditions on them against loops over the rows, and
 * what becomes of them when tables change, are saved and fail. */
#include "base/devices/device.h"
#include "failing_device.h"
#include "predicates.h"

#include <stdio.h>

enum { ROWS_MOST = 6000, WORDS_MOST = ROWS_MOST / 32 + 1, COLUMNS = 2, ASKED_MOST = 64 };

static const kr_type types[] = {KR_U16, KR_I16, KR_U32,         KR_I32, KR_DATE32,
                                KR_U64, KR_I64, KR_TIMESTAMP64, KR_U8,  KR_F32};
enum { TYPES = sizeof types / sizeof *types };

static const char *const names[COLUMNS] = {"a", "b"};
static const char *const specs[] = {"full", "full:narrow=on", "full:narrow=on,zones=off,logic=branching",
                                    "full:narrow=off"};
enum { SPECS = sizeof specs / sizeof *specs };

static kr_rng rng;

/* ---- Columns --------------------------------------------------------------------------------- */

/* The rows that a table should have; b has other values of the type of a. */
static struct {
    kr_column columns[COLUMNS];
    uint64_t data[COLUMNS][ROWS_MOST];
    uint8_t validity[COLUMNS][ROWS_MOST / 8 + 1];
    uint64_t n, lowest[COLUMNS], highest[COLUMNS]; /* codes of values */
} m;

static uint64_t most_of(kr_type type)
{
    return ~UINT64_C(0) >> (64 - 8 * kr_type_nbytes(type));
}

static void begin(kr_type type)
{
    memset(&m, 0, sizeof m);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        m.columns[c] = (kr_column){.type = type, .data = m.data[c], .validity = m.validity[c]};
        m.lowest[c] = UINT64_MAX;
    }
}

/* A row of which NULLs have any bits. */
static void put(uint32_t c, uint64_t row, uint64_t code, int is_valid)
{
    const kr_type type = m.columns[c].type;
    kr_value_store_bits(type, m.data[c], row, is_valid ? kr_value_of_code(type, code) : kr_rng_next(&rng));
    if (!is_valid)
        return;
    m.validity[c][row / 8] |= (uint8_t)(1 << row % 8);
    m.lowest[c] = code < m.lowest[c] ? code : m.lowest[c];
    m.highest[c] = code > m.highest[c] ? code : m.highest[c];
}

/* Rows of codes base .. base + span, both of them among the first; one in `nulls` is NULL, 0: none is. */
static void add_rows(uint32_t c, uint64_t count, uint64_t base, uint64_t span, uint64_t nulls)
{
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t code = i == 0 ? base : i == 1 ? base + span : base + kr_rng_below(&rng, span + 1);
        put(c, m.n + i, code, i < 2 || !nulls || kr_rng_below(&rng, nulls));
    }
}

static void count_rows(uint64_t count)
{
    m.n += count;
    for (uint32_t c = 0; c < COLUMNS; ++c)
        m.columns[c].count = m.n;
}

/* Bytes of the copy that a column should have. */
static uint64_t narrow_nbytes(const char *spec, uint32_t c)
{
    const kr_type type = m.columns[c].type;
    const uint64_t share = strstr(spec, "narrow=on") ? 2 : strstr(spec, "narrow=off") ? 99 : 4;
    const uint64_t span = m.highest[c] - m.lowest[c], nbytes = span < 256 ? 1 : span < 65536 ? 2 : 99;
    return m.lowest[c] > m.highest[c] || kr_type_is_float(type) || nbytes * share > kr_type_nbytes(type)
               ? 0
               : nbytes;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static kr_table *create(const char *spec)
{
    kr_table *table = NULL;
    kr_error err = {0};
    if (kr_table_create(device, spec, m.columns, names, COLUMNS, NULL, NULL, &table, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    return table;
}

static uint64_t component(const kr_table *table, const char *name)
{
    for (uint32_t i = 0; i < kr_table_component_count(table); ++i)
        if (!strcmp(kr_table_component_name(table, i), name))
            return kr_table_component_nbytes(table, i);
    return 0;
}

static uint64_t counter(const kr_table *table, const char *name)
{
    for (uint32_t i = 0; i < kr_table_counter_count(table); ++i)
        if (!strcmp(kr_table_counter_name(table, i), name))
            return kr_table_counter_value(table, i);
    return UINT64_MAX;
}

/* `grown`: copies may have room. */
static void check_facts(kr_table *table, const char *spec, int grown)
{
    const uint64_t each = narrow_nbytes(spec, 0) + narrow_nbytes(spec, 1),
                   held = component(table, "narrow copies");
    const uint64_t n = (narrow_nbytes(spec, 0) != 0) + (narrow_nbytes(spec, 1) != 0);
    kr_error err = {0};
    if (kr_table_validate(table, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    assert_int_equal(counter(table, "narrow columns"), strstr(spec, "narrow=off") ? UINT64_MAX : n);
    if (grown)
        assert_in_range(held, each * m.n, each * (m.n + m.n / 8));
    else
        assert_int_equal(held, each * m.n);
}

/* ---- Conditions ------------------------------------------------------------------------------ */

/* Conditions and the rows that they should select. */
static struct {
    kr_condition *conditions[ASKED_MOST];
    uint32_t want[ASKED_MOST][WORDS_MOST], found[ASKED_MOST][WORDS_MOST];
    uint32_t n;
} asked;

static void forget(void)
{
    while (asked.n)
        kr_condition_destroy(asked.conditions[--asked.n]);
}

static void expect_row(uint64_t row, int holds)
{
    if (row == 0)
        memset(asked.want[asked.n], 0, sizeof *asked.want);
    asked.want[asked.n][row / 32] |= (uint32_t)(holds != 0) << row % 32;
}

static void add_condition(const kr_predicate *p, int negated)
{
    kr_condition *made = NULL, *opposite = NULL;
    assert_true(asked.n < ASKED_MOST);
    assert_int_equal(kr_predicates_condition(m.columns, names, p, 1, &made, NULL), KR_OK);
    if (negated) {
        assert_int_equal(kr_condition_not(made, &opposite, NULL), KR_OK);
        kr_condition_destroy(made);
        made = opposite;
    }
    for (uint64_t r = 0; r < m.n; ++r) {
        const int holds = kr_predicate_holds(m.columns, p, r);
        const int is_known = p->compare == KR_IS_NULL || kr_value_is_valid(m.columns + p->column, r);
        expect_row(r, negated ? is_known && !holds : holds);
    }
    asked.conditions[asked.n++] = made;
}

/* Two of the conditions so far, together. */
static void add_both(uint32_t one, uint32_t other, int is_or)
{
    const kr_condition *const both[] = {asked.conditions[one], asked.conditions[other]};
    kr_condition *made = NULL;
    assert_true(asked.n < ASKED_MOST);
    assert_int_equal((is_or ? kr_condition_or : kr_condition_and)(both, 2, &made, NULL), KR_OK);
    for (uint64_t w = 0; w < WORDS_MOST; ++w)
        asked.want[asked.n][w] =
            is_or ? asked.want[one][w] | asked.want[other][w] : asked.want[one][w] & asked.want[other][w];
    asked.conditions[asked.n++] = made;
}

static void scan(kr_table *table, uint32_t first, uint32_t n)
{
    kr_scan_sink sinks[ASKED_MOST];
    const kr_scan_sink *pointers[ASKED_MOST];
    kr_error err = {0};
    for (uint32_t i = 0; i < n; ++i) {
        memset(asked.found[first + i], 0xA5, sizeof *asked.found);
        sinks[i] = (kr_scan_sink){
            .struct_size = sizeof *sinks, .result = KR_SCAN_BITMAP, .out = asked.found[first + i]};
        pointers[i] = sinks + i;
    }
    if (kr_scan(table, (const kr_condition *const *)asked.conditions + first, pointers, n, NULL, NULL,
                &err) != KR_OK)
        fail_msg("%s", err.text);
}

static void compare(const char *spec)
{
    for (uint32_t i = 0; i < asked.n; ++i)
        for (uint64_t w = 0; w < (m.n + 31) / 32; ++w)
            if (asked.found[i][w] != asked.want[i][w])
                fail_msg("%s, type %s, codes %llu to %llu, condition %u: word %llu is %08x, not %08x", spec,
                         kr_type_name(m.columns[0].type), (unsigned long long)m.lowest[0],
                         (unsigned long long)m.highest[0], i, (unsigned long long)w, asked.found[i][w],
                         asked.want[i][w]);
}

/* All conditions: each alone, then all in one call. */
static void check_scans(kr_table *table, const char *spec)
{
    for (uint32_t i = 0; i < asked.n; ++i)
        scan(table, i, 1);
    compare(spec);
    scan(table, 0, asked.n);
    compare(spec);
}

/* A code near an end of what the column has, or near an end of its type. */
static uint64_t any_code(uint32_t c)
{
    const uint64_t most = most_of(m.columns[c].type), near = kr_rng_below(&rng, 4);
    switch (kr_rng_below(&rng, 6)) {
    case 0: return near;
    case 1: return most - near;
    case 2: return (m.lowest[c] - near) & most;
    case 3: return (m.lowest[c] + near) & most;
    case 4: return (m.highest[c] + 1 - near) & most;
    default: return (m.lowest[c] + kr_rng_below(&rng, m.highest[c] - m.lowest[c] + 1)) & most;
    }
}

static void ask_random(uint32_t c)
{
    kr_predicate p = {.column = c, .compare = (kr_compare)(KR_LESS + (int)kr_rng_below(&rng, 9))};
    const kr_type type = m.columns[c].type;
    p.n = p.compare == KR_IS_NULL   ? 0
          : p.compare == KR_BETWEEN ? 2
          : p.compare == KR_IN      ? 1 + kr_rng_below(&rng, 6)
                                    : 1;
    for (uint64_t i = 0; i < p.n; ++i)
        kr_value_store_bits(type, p.values, i, kr_value_of_code(type, any_code(c)));
    add_condition(&p, kr_rng_below(&rng, 3) == 0);
}

static void ask(void)
{
    forget();
    while (asked.n < 20)
        ask_random((uint32_t)kr_rng_below(&rng, COLUMNS));
    for (uint32_t i = 0; i < 10; ++i)
        add_both((uint32_t)kr_rng_below(&rng, 20), (uint32_t)kr_rng_below(&rng, 20), i % 2);
}

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

/* ---- Changes --------------------------------------------------------------------------------- */

/* Rows from `first` on. */
static void rows_from(uint64_t first, kr_column more[COLUMNS])
{
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        more[c] = m.columns[c];
        more[c].data = (const char *)m.columns[c].data + first * kr_type_nbytes(m.columns[c].type);
        more[c].validity_offset += first;
        more[c].count -= first;
    }
}

static void append(kr_table *table, uint64_t first)
{
    kr_column more[COLUMNS];
    kr_error err = {0};
    rows_from(first, more);
    if (kr_table_append(table, more, COLUMNS, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
}

enum { INSIDE, ABOVE, BELOW, WIDER, FAR, NULLS, WAYS };

/* New rows of a column, all of them NULL, or with values in some place beside those that there are. */
static void add_more(uint32_t c, uint64_t count, uint64_t way)
{
    const uint64_t most = most_of(m.columns[c].type), lowest = m.lowest[c], highest = m.highest[c];
    const uint64_t low = lowest > highest ? most / 2 : lowest, high = lowest > highest ? low : highest;
    const uint64_t far = way == WIDER ? 300 : way == FAR ? 70000 : 20;
    if (way == NULLS || (way == INSIDE && lowest > highest)) {
        for (uint64_t i = 0; i < count; ++i)
            put(c, m.n + i, 0, 0);
    } else if (way == INSIDE) {
        add_rows(c, count, low, high - low, 6);
    } else if (way == BELOW) {
        add_rows(c, count, low > far ? low - far : 0, high - low, 6);
    } else {
        add_rows(c, count, high, most - high > far ? far : most - high, 6);
    }
}

static void run_changes(const char *spec, kr_type type, uint64_t seed)
{
    static const uint64_t chunks[] = {1, 2, 31, 33, 300, 1023, 1025};
    rng = (kr_rng){seed};
    begin(type);
    if (seed % 3) {
        const uint64_t n = seed % 3 == 1 ? 700 : 2048;
        add_rows(0, n, most_of(type) / 2, seed % 200, 4);
        add_more(1, n, NULLS);
        count_rows(n);
    }
    kr_table *table = create(spec);
    for (uint32_t step = 0; step < 9 && m.n + 1025 <= ROWS_MOST; ++step) {
        const uint64_t before = m.n, count = chunks[kr_rng_below(&rng, sizeof chunks / sizeof *chunks)];
        for (uint32_t c = 0; c < COLUMNS; ++c)
            add_more(c, count, step < 4 ? kr_rng_below(&rng, 2) : kr_rng_below(&rng, WAYS));
        count_rows(count);
        append(table, before);
        check_facts(table, spec, 1);
        ask();
        check_scans(table, spec);
    }
    forget();
    kr_table_destroy(table);
}

static void appended_rows_fit_or_not(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t t = 0; t < TYPES - 2; ++t)
            for (uint64_t seed = 0; seed < 6; ++seed)
                run_changes(specs[s], types[t], 100 * t + seed);
}

/* The first append makes room; what fits in it is written there. */
static void room_is_used(void **state)
{
    (void)state;
    rng = (kr_rng){3};
    begin(KR_U32);
    add_rows(0, 4000, 1000, 50, 0);
    add_rows(1, 4000, 5, 50, 0);
    count_rows(4000);
    kr_table *table = create("full");
    assert_int_equal(component(table, "narrow copies"), 8000);
    uint64_t held = 0;
    for (uint32_t i = 0; i < 5; ++i) {
        const uint64_t before = m.n;
        add_more(0, 100, INSIDE);
        add_more(1, 100, ABOVE);
        count_rows(100);
        append(table, before);
        assert_true(i == 0 || component(table, "narrow copies") == held);
        held = component(table, "narrow copies");
        check_facts(table, "full", 1);
    }
    assert_int_equal(held, 2 * (4100 + 4100 / 8));
    kr_table_destroy(table);
}

/* An older version keeps its copy when a later one needs another. */
static void versions_have_their_own(void **state)
{
    (void)state;
    for (uint64_t way = 0; way < WAYS; ++way) {
        kr_column more[COLUMNS];
        kr_table *next = NULL;
        kr_error err = {0};
        rng = (kr_rng){way};
        begin(KR_I64);
        add_rows(0, 1500, most_of(KR_I64) / 2, 100, 6);
        add_rows(1, 1500, 0, 255, 0);
        count_rows(1500);
        kr_table *table = create("full");
        ask();
        check_scans(table, "full");
        for (uint32_t c = 0; c < COLUMNS; ++c)
            add_more(c, 700, way);
        count_rows(700);
        rows_from(1500, more);
        if (kr_table_next_append(table, more, COLUMNS, NULL, &next, &err) != KR_OK)
            fail_msg("%s", err.text);
        m.n = 1500;
        check_scans(table, "full"); /* the same conditions and rows as before */
        assert_int_equal(kr_table_validate(table, NULL), KR_OK);
        m.n = 2200;
        kr_table_destroy(table);
        check_facts(next, "full", 1);
        ask();
        check_scans(next, "full");
        kr_table_destroy(next);
        forget();
    }
}

static kr_table *next_append(const kr_table *table, uint64_t first)
{
    kr_column more[COLUMNS];
    kr_table *next = NULL;
    kr_error err = {0};
    rows_from(first, more);
    if (kr_table_next_append(table, more, COLUMNS, NULL, &next, &err) != KR_OK)
        fail_msg("%s", err.text);
    return next;
}

/* Of two versions with new rows, the first writes them behind those of the copy that both share, the second
 * has a copy of its own. */
static void versions_share_copies(void **state)
{
    enum { FIRST = 5000, MORE = 100, ROWS = FIRST + MORE };
    (void)state;
    rng = (kr_rng){8};
    begin(KR_I64);
    add_rows(0, FIRST, 1000, 50, 6);
    add_rows(1, FIRST, 5, 50, 0);
    count_rows(FIRST);
    kr_table *table = create("full:zones=off");
    add_more(0, MORE, INSIDE);
    add_more(1, MORE, INSIDE);
    count_rows(MORE);
    append(table, FIRST); /* from now on there is room */
    const uint64_t held = atomic_load(&device->in_use_nbytes);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        add_more(c, MORE, ABOVE);
    count_rows(MORE);
    kr_table *first = next_append(table, ROWS);
    assert_true(atomic_load(&device->in_use_nbytes) - held < ROWS);
    assert_int_equal(component(first, "narrow copies"), component(table, "narrow copies"));
    check_facts(first, "full", 1);
    for (uint32_t c = 0; c < COLUMNS; ++c) /* other rows in their place */
        for (uint64_t row = ROWS; row < ROWS + MORE; ++row)
            m.validity[c][row / 8] &= (uint8_t) ~(1 << row % 8);
    m.n -= MORE;
    add_more(0, MORE, INSIDE);
    add_more(1, MORE, INSIDE);
    count_rows(MORE);
    kr_table *second = next_append(table, ROWS);
    assert_true(atomic_load(&device->in_use_nbytes) - held > 2 * ROWS);
    kr_table_destroy(table);
    assert_int_equal(kr_table_validate(first, NULL), KR_OK);
    ask();
    check_scans(second, "full");
    assert_int_equal(kr_table_validate(second, NULL), KR_OK);
    kr_table_destroy(first);
    check_scans(second, "full");
    kr_table_destroy(second);
    forget();
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
        cmocka_unit_test(appended_rows_fit_or_not),
        cmocka_unit_test(room_is_used),
        cmocka_unit_test(versions_have_their_own),
        cmocka_unit_test(versions_share_copies),
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
