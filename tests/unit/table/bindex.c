/* Kind bindex: rows of every shape of column against plain loops, and what validation finds. */
#include "table/families/bindex/bindex.h"
#include "bindex_tables.h"

enum { TEXT_NBYTES = 1 << 16, LIST_MOST = 1000 };

/* ---- Conditions ------------------------------------------------------------------------------ */

enum { BELOW, BETWEEN, NOT_EQUAL, IN, NOT_IN, IS_NULL, IS_NOT_NULL, OPS };

static int is_valid(const values *v, uint64_t i)
{
    return !v->has_nulls || (v->validity[(i + 5) / 8] >> ((i + 5) % 8) & 1);
}

typedef struct predicate {
    uint32_t column;
    int op;
    int64_t low, high;
    uint32_t n;
    int64_t list[LIST_MOST]; /* ascending */
} predicate;

/* Values of the column, or some near them. */
static int64_t any_value(kr_rng *rng, const values *v, uint64_t n)
{
    const int64_t value = v->at[kr_rng_below(rng, n)];
    const int64_t step = (int64_t)kr_rng_below(rng, 3) - 1;
    return (step < 0 && value == lowest(v->type)) || (step > 0 && value == highest(v->type)) ? value
                                                                                             : value + step;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void choose(predicate *p, kr_rng *rng, uint64_t n)
{
    const values *v = columns + p->column;
    p->op = (int)kr_rng_below(rng, OPS);
    p->low = any_value(rng, v, n);
    p->high = any_value(rng, v, n);
    p->n = 1 + (uint32_t)kr_rng_below(rng, kr_rng_below(rng, 2) ? 4 : LIST_MOST);
    for (uint32_t i = 0; i < p->n; ++i)
        p->list[i] = any_value(rng, v, n);
    qsort(p->list, p->n, sizeof *p->list, ascending);
}

static int holds(const predicate *p, uint64_t row)
{
    const values *v = columns + p->column;
    const int64_t value = v->at[row];
    if (p->op == IS_NULL || p->op == IS_NOT_NULL)
        return is_valid(v, row) == (p->op == IS_NOT_NULL);
    if (!is_valid(v, row))
        return 0;
    switch (p->op) {
    case BELOW: return value < p->low;
    case BETWEEN: return p->low <= value && value <= p->high;
    case NOT_EQUAL: return value != p->low;
    default: return (bsearch(&value, p->list, p->n, sizeof value, ascending) != NULL) == (p->op == IN);
    }
}

static size_t put(char *text, size_t at, const predicate *p)
{
    static const char *const forms[] = {"c%u < %lld",     "c%u between %lld and %lld", "c%u <> %lld",
                                        "c%u in (%lld",   "c%u not in (%lld",          "c%u is null",
                                        "c%u is not null"};
    const int is_list = p->op == IN || p->op == NOT_IN;
    at += (size_t)sprintf(text + at, forms[p->op], p->column, (long long)(is_list ? p->list[0] : p->low),
                          (long long)p->high);
    for (uint32_t i = 1; i < p->n && is_list; ++i)
        at += (size_t)sprintf(text + at, ", %lld", (long long)p->list[i]);
    return at + (size_t)sprintf(text + at, is_list ? ")" : "");
}

/* Asked for alone, a count needs no bitmap. */
static void ask(kr_table *table, const kr_condition *condition, const uint32_t *alive, kr_scan_result result,
                void *out)
{
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = result, .out = out};
    const kr_scan_options options = {.struct_size = sizeof options, .alive = alive};
    const kr_scan_sink *sinks[] = {&sink};
    kr_error err = {0};
    if (kr_scan(table, &condition, sinks, 1, &options, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
}

static void compare(kr_table *table, const predicate *predicates, uint32_t n_predicates, uint64_t n,
                    const uint32_t *alive)
{
    static uint32_t got[ROWS_MOST / 32 + 1];
    static char text[TEXT_NBYTES];
    kr_condition *condition = NULL;
    kr_error err = {0};
    size_t at = 0;
    uint64_t count = 0, n_held = 0;
    for (uint32_t i = 0; i < n_predicates; ++i) {
        at += (size_t)sprintf(text + at, i ? " and " : "");
        at = put(text, at, predicates + i);
    }
    memset(got, 0xA5, sizeof got);
    if (kr_condition_parse(text, &condition, &err) != KR_OK)
        fail_msg("%s", err.text);
    ask(table, condition, alive, KR_SCAN_BITMAP, got);
    ask(table, condition, alive, KR_SCAN_COUNT, &count);
    kr_condition_destroy(condition);
    for (uint64_t i = 0; i < (n + 31) / 32 * 32; ++i) {
        int want = i < n && (!alive || (alive[i / 32] >> (i % 32) & 1));
        for (uint32_t q = 0; q < n_predicates && want; ++q)
            want = holds(predicates + q, i);
        if ((int)(got[i / 32] >> (i % 32) & 1) != want)
            fail_msg("row %llu of %llu: %d, not %d: %.500s", (unsigned long long)i, (unsigned long long)n,
                     !want, want, text);
        n_held += (uint64_t)want;
    }
    if (count != n_held)
        fail_msg("%llu of %llu rows counted, not %llu: %.500s", (unsigned long long)count,
                 (unsigned long long)n, (unsigned long long)n_held, text);
}

/* Conditions on one column to all of them, some with rows that are not alive. */
static void try_some(kr_table *table, kr_rng *rng, uint64_t n, uint32_t tries)
{
    static uint32_t alive[ROWS_MOST / 32 + 1];
    static predicate predicates[COLUMNS];
    for (uint64_t w = 0; w < (n + 31) / 32; ++w)
        alive[w] = (uint32_t)kr_rng_next(rng);
    for (uint32_t i = 0; i < tries; ++i) {
        const uint32_t first = (uint32_t)kr_rng_below(rng, COLUMNS);
        const uint32_t n_predicates = 1 + (uint32_t)kr_rng_below(rng, COLUMNS);
        for (uint32_t q = 0; q < n_predicates; ++q) {
            predicates[q].column = (first + q) % COLUMNS;
            choose(predicates + q, rng, n);
        }
        compare(table, predicates, n_predicates, n, kr_rng_below(rng, 3) ? NULL : alive);
    }
}

/* ThreadSanitizer looks for races between the threads of a block, not for wrong rows; AddressSanitizer meets
 * the same memory in every try. */
#ifdef __SANITIZE_THREAD__
static const uint64_t sizes[] = {33, 5000, ROWS_MOST};
enum { TRIES = 5, TRIES_LARGE = 2 };
#else
#ifdef __SANITIZE_ADDRESS__
enum { TRIES = 5, TRIES_LARGE = 2 };
#else
enum { TRIES = 20, TRIES_LARGE = 6 };
#endif
static const uint64_t sizes[] = {1, 2, 31, 33, 64, 255, 257, 5000, 65535, 65536, 65537, ROWS_MOST};
#endif

static void shapes(void **state)
{
    kr_rng rng = {15};
    for (int shape = 0; shape < SHAPES; ++shape)
        for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
            const uint64_t n = sizes[s];
            for (uint32_t c = 0; c < COLUMNS; ++c) {
                columns[c].type = types[kr_rng_below(&rng, TYPES)];
                columns[c].has_nulls = shape == ALL_NULL || kr_rng_below(&rng, 2);
                fill(columns + c, &rng, shape, 0, n);
            }
            kr_table *table = make(*state, n);
            try_some(table, &rng, n, n > 10000 ? TRIES_LARGE : TRIES);
            kr_table_destroy(table);
        }
}

/* The same on a GPU. */
static void shapes_on_gpu(void **state)
{
    kr_device *cpu = device, *gpu = NULL;
    kr_error err = {0};
    if (kr_device_open("cuda", NULL, &gpu, &err) != KR_OK) {
        print_message("%s\n", err.text);
        skip();
    }
    device = gpu;
    shapes(state);
    device = cpu;
    kr_device_close(gpu);
}

/* Selectivity 0 and 1, and constants on both sides of every border. */
static void borders(void **state)
{
    enum { N = 70000 };
    kr_rng rng = {3};
    predicate p = {.op = BELOW};
    (void)state;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        columns[c].type = KR_U32;
        columns[c].has_nulls = c == 1;
        fill(columns + c, &rng, c == 0 ? ASCENDING : RANDOM, 0, N);
    }
    kr_table *table = make("bindex:vectors=16", N);
    const bindex_table *made = table->self;
    for (p.column = 0; p.column < COLUMNS; ++p.column) {
        const bindex_column *column = made->parts[0].columns + p.column;
        assert_true(column->n_sections == 16);
        for (uint32_t v = 0; v + 1 < column->n_sections; ++v)
            for (int step = -1; step <= 1; ++step) {
                p.low = (int64_t)column->codes[column->ends[v]] + step;
                compare(table, &p, 1, N, NULL);
            }
        p.low = 0;
        compare(table, &p, 1, N, NULL);
        p.low = UINT32_MAX;
        compare(table, &p, 1, N, NULL);
    }
    kr_table_destroy(table);
}

/* More predicates than a pass takes: passes hand on a bitmap, the last one counts. Appended rows make parts.
 */
static void many_columns(void **state)
{
    enum { N = 70001, FIRST = 70000, MANY = 20 };
    static uint32_t alive[N / 32 + 1], got[N / 32 + 1];
    kr_rng rng = {31};
    kr_column all[MANY], more[MANY];
    kr_condition *condition = NULL;
    kr_table *table = NULL;
    kr_error err = {0};
    char text[MANY * 20] = "";
    uint64_t count, n_held = 0;
    (void)state;
    columns[0].type = KR_U32;
    columns[0].has_nulls = 0;
    fill(columns, &rng, RANDOM, 0, N);
    for (uint32_t c = 0; c < MANY; ++c) {
        all[c] = (kr_column){.type = KR_U32, .count = FIRST, .data = columns[0].data};
        more[c] = (kr_column){.type = KR_U32, .count = N - FIRST, .data = columns[0].data + 4 * FIRST};
        sprintf(text + strlen(text), "%sc%u > %u", c ? " and " : "", c, c * 70000000);
    }
    for (uint64_t w = 0; w <= N / 32; ++w)
        alive[w] = (uint32_t)kr_rng_next(&rng);
    assert_int_equal(kr_table_create(device, "bindex", all, NULL, MANY, NULL, NULL, &table, &err), KR_OK);
    assert_int_equal(kr_table_append(table, more, MANY, NULL, &err), KR_OK);
    assert_int_equal(((const bindex_table *)table->self)->n_parts, 2);
    assert_int_equal(kr_condition_parse(text, &condition, &err), KR_OK);
    ask(table, condition, alive, KR_SCAN_COUNT, &count);
    ask(table, condition, alive, KR_SCAN_BITMAP, got);
    for (uint64_t i = 0; i < N; ++i) {
        const uint32_t want = columns[0].at[i] > (MANY - 1) * 70000000 ? alive[i / 32] >> i % 32 & 1 : 0;
        assert_int_equal(got[i / 32] >> i % 32 & 1, want);
        n_held += want;
    }
    assert_int_equal(count, n_held);
    assert_true(n_held > 0);
    kr_condition_destroy(condition);
    kr_table_destroy(table);
}

/* ---- What a scan costs ----------------------------------------------------------------------- */

/* Rows checked are at most half a section, and fewer compared than in a few cells; a value that fills
 * sections needs no check at all. */
static void refines_little(void **state)
{
    enum { N = 200000, VECTORS = 32 };
    kr_rng rng = {9};
    (void)state;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        columns[c].type = KR_U32;
        columns[c].has_nulls = 0;
        fill(columns + c, &rng, c == 0 ? RANDOM : c == 1 ? FEW : CONSTANT, 0, N);
    }
    kr_table *table = make("bindex:vectors=32", N);
    const bindex_table *made = table->self;
    for (uint32_t i = 0; i < 500; ++i) {
        kr_interval below = {0, kr_rng_next(&rng) >> 33};
        for (uint32_t c = 0; c < COLUMNS; ++c) {
            const kr_leaf leaf = {.column = c, .other = KR_NO_COLUMN, .n_intervals = 1, .intervals = &below};
            bindex_lists lists = {.n_runs = 0};
            bindex_cost cost = {0};
            bindex_leaf leaf_made;
            below.high = c ? below.high % 80 : below.high;
            assert_int_equal(bindex_leaf_add(made->parts, &leaf, 0, &lists, &leaf_made, &cost, NULL), KR_OK);
            assert_true(cost.vectors <= 1);
            assert_true(cost.refined <= (c ? 0 : N / VECTORS / 2 + N / 100));
            assert_true(cost.compared <= N / 1000);
            bindex_lists_release(&lists);
        }
    }
    kr_table_destroy(table);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void damage(void **state)
{
    enum { N = 150000 };
    kr_rng rng = {4};
    (void)state;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        columns[c].type = types[c];
        columns[c].has_nulls = c == 2;
        fill(columns + c, &rng, RANDOM, 0, N);
    }
    kr_table *table = make("bindex", N);
    const bindex_table *made = table->self;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        bindex_column *column = made->parts[0].columns + c;
        bindex_view *view = &column->view;
        view->vectors[((view->n_vectors - 1) * view->n_tiles + 1) * view->words + 100] ^= 8;
        expect_damage(table, "a vector has wrong bits in the tile that begins at row 65536");
        view->vectors[((view->n_vectors - 1) * view->n_tiles + 1) * view->words + 100] ^= 8;
        view->starts[40 * view->n_tiles + 2] += 60000;
        expect_danger(table, "numbers of rows in cells are wrong in the tile that begins at row 131072");
        view->starts[40 * view->n_tiles + 2] -= 60000;
        const uint16_t position = view->positions[70000];
        view->positions[70000] = view->positions[60000 + 65536];
        expect_damage(table, "positions do not name");
        view->positions[70000] = position;
        uint16_t *last = view->positions + 2 * 65536;
        const uint16_t first_of_last = last[0];
        last[0] = N - 2 * 65536;
        expect_danger(table, "positions do not name the rows of their cells in the tile that begins at row "
                             "131072");
        last[0] = first_of_last;
        ++column->counts[5];
        expect_damage(table, "sizes of cells");
        column->counts[5] += N;
        expect_danger(table, "sizes of cells");
        column->counts[5] -= N + 1;
        ++column->codes[7];
        column->codes[7] += column->codes[8];
        expect_danger(table, "borders do not ascend");
        column->codes[7] -= column->codes[8];
        --column->codes[7];
        const uint32_t end = column->ends[view->n_vectors - 1];
        column->ends[view->n_vectors - 1] = c == 2 ? end - 1 : view->n_cells;
        expect_danger(table, "borders do not ascend");
        column->ends[view->n_vectors - 1] = end;
    }
    kr_error err = {0};
    if (kr_table_validate(table, &err) != KR_OK)
        fail_msg("%s", err.text);
    kr_table_destroy(table);
}

/* ---- Appended rows --------------------------------------------------------------------------- */

static void append_to(kr_table *table, uint64_t first, uint64_t n)
{
    kr_column described[COLUMNS];
    kr_error err = {0};
    describe(described, n);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        described[c].data = columns[c].data + first * kr_type_nbytes(described[c].type);
        described[c].validity_offset += first;
        described[c].count = n - first;
    }
    if (kr_table_append(table, described, COLUMNS, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
    if (kr_table_validate(table, &err) != KR_OK)
        fail_msg("%s", err.text);
}

/* Batches of all sizes; values of each in another range, so that old borders do not fit. */
static void appends(void **state)
{
    static const uint64_t batches[] = {1, 30, 1, 40000, 1, 2, 3, 5000, 700, 700, 0, 64, 100000, 31, 33, 1};
    kr_rng rng = {5};
    uint64_t n = 50000;
    uint32_t parts_most = 0;
    (void)state;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        columns[c].type = types[c];
        columns[c].has_nulls = c == 2;
        fill(columns + c, &rng, c ? RANDOM : ASCENDING, 0, n);
    }
    kr_table *table = make("bindex:vectors=20", n);
    const bindex_table *made = table->self;
    for (uint32_t b = 0; b < sizeof batches / sizeof *batches; ++b) {
        for (uint32_t c = 0; c < COLUMNS; ++c)
            fill(columns + c, &rng, (int)kr_rng_below(&rng, SHAPES), n, n + batches[b]);
        append_to(table, n, n + batches[b]);
        n += batches[b];
        parts_most = made->n_parts > parts_most ? made->n_parts : parts_most;
        try_some(table, &rng, n, 12);
    }
    assert_in_range(parts_most, 3, BINDEX_PARTS);
    kr_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(shapes, "bindex"),
        cmocka_unit_test_prestate(shapes, "bindex:refine=scatter"),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test_prestate(shapes, "bindex:vectors=2"),
        cmocka_unit_test_prestate(shapes, "bindex:vectors=256"),
        cmocka_unit_test_prestate(shapes, "bindex:refine=scatter,vectors=2"),
        cmocka_unit_test_prestate(shapes, "bindex:refine=scatter,vectors=256"),
#endif
        cmocka_unit_test_prestate(shapes_on_gpu, "bindex"),
        cmocka_unit_test_prestate(shapes_on_gpu, "bindex:refine=scatter"),
        cmocka_unit_test(borders),
        cmocka_unit_test(many_columns),
        cmocka_unit_test(refines_little),
        cmocka_unit_test(damage),
        cmocka_unit_test(appends),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
