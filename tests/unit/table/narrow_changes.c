/* Narrow copies of kind `full` while rows are appended, to a table and to versions of it. */
#include "narrow.h"

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

/* An older version keeps its copy when a later one needs another. */
static void versions_have_their_own(void **state)
{
    (void)state;
    for (uint64_t way = 0; way < WAYS; ++way) {
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
        kr_table *next = next_append(table, 1500);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_rows_fit_or_not),
        cmocka_unit_test(room_is_used),
        cmocka_unit_test(versions_have_their_own),
        cmocka_unit_test(versions_share_copies),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
