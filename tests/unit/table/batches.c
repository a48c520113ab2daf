/* Batches of whole conditions on tables of many rows, against a loop over the rows in three-valued logic; and
 * what happens where memory ends. */
#include "device_name.h"
#include "failing_device.h"
#include "random.h"
#include "report_counter.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 5, ROWS_MOST = 200003, NODES_MOST = 64, BATCH_MOST = 80, TEXT_NBYTES = 1 << 13 };

static const kr_type types[COLUMNS] = {KR_U32, KR_I32, KR_I64, KR_U8, KR_F32};
static int64_t values[COLUMNS][ROWS_MOST];
static _Alignas(64) char memory[COLUMNS][8 * ROWS_MOST + 40];
static uint8_t validity[ROWS_MOST / 8 + 2]; /* of columns 1 and 3, from bit 5 on */
static uint32_t alive[ROWS_MOST / 32 + 1];

/* ---- Data ------------------------------------------------------------------------------------ */

static int has_nulls(uint32_t c)
{
    return c == 1 || c == 3;
}

static int is_null(uint32_t c, uint64_t row)
{
    return has_nulls(c) && !(validity[(row + 5) / 8] >> (row + 5) % 8 & 1);
}

static void store(uint32_t c, char *to, int64_t value)
{
    const float real = (float)value;
    if (types[c] == KR_F32)
        memcpy(to, &real, sizeof real);
    else
        memcpy(to, &value, kr_type_nbytes(types[c]));
}

/* Column 0 ascends slowly, so that zones tell something of it. `shift`: bytes by which data begins later than
 * at 64. */
static void fill(kr_rng *rng, uint64_t n, uint64_t shift)
{
    memset(validity, 0, sizeof validity);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        for (uint64_t i = 0; i < n; ++i) {
            const int64_t random = (int64_t)kr_rng_below(rng, 200);
            values[c][i] = c == 0 ? (int64_t)(i * 200 / n) + random % 3 : c == 3 ? random : random - 100;
            store(c, memory[c] + shift + i * kr_type_nbytes(types[c]), values[c][i]);
            if (c == 0 && kr_rng_below(rng, 7))
                validity[(i + 5) / 8] |= (uint8_t)(1 << (i + 5) % 8);
        }
    for (uint64_t w = 0; w <= n / 32; ++w)
        alive[w] = (uint32_t)(kr_rng_next(rng) | kr_rng_next(rng));
    for (uint64_t w = 600; w < 1500 && w <= n / 32; ++w)
        alive[w] = 0;
}

static kr_status make(const char *spec, uint64_t n, uint64_t shift, kr_table **table, kr_error *err)
{
    static const char *const names[COLUMNS] = {"a", "b", "c", "d", "e"};
    kr_column columns[COLUMNS];
    for (uint32_t c = 0; c < COLUMNS; ++c)
        columns[c] = (kr_column){.type = types[c],
                                 .count = n,
                                 .data = memory[c] + shift,
                                 .validity = has_nulls(c) ? validity : NULL,
                                 .validity_offset = has_nulls(c) ? 5 : 0};
    return kr_table_create(device, spec, columns, names, COLUMNS, NULL, NULL, table, err);
}

/* ---- Conditions ------------------------------------------------------------------------------ */

enum { LESS, MORE, BETWEEN, NOT_EQUAL, IN, IS_NULL, AND, OR, NOT };

/* In postfix order; operands of AND and OR are two. */
typedef struct node {
    int op;
    uint32_t column;
    int64_t from, to; /* IN: from, from + 9, ... up to `to` */
} node;

typedef struct condition {
    node nodes[NODES_MOST];
    uint32_t n;
    char text[TEXT_NBYTES];
} condition;

static void write_leaf(kr_rng *rng, condition *c, uint32_t columns)
{
    static const char names[] = "abcde";
    const uint32_t column = (uint32_t)kr_rng_below(rng, columns);
    const int64_t from = (int64_t)kr_rng_below(rng, 220) - 110, to = from + (int64_t)kr_rng_below(rng, 60);
    const node leaf = {(int)kr_rng_below(rng, 6), column, from, to};
    char *text = c->text + strlen(c->text);
    c->nodes[c->n++] = leaf;
    if (leaf.op == BETWEEN)
        sprintf(text, "%c between %lld and %lld", names[column], (long long)from, (long long)to);
    else if (leaf.op == IS_NULL)
        sprintf(text, "%c is null", names[column]);
    else if (leaf.op == IN) {
        text += sprintf(text, "%c in (%lld", names[column], (long long)from);
        for (int64_t v = from + 9; v <= to; v += 9)
            text += sprintf(text, ", %lld", (long long)v);
        strcpy(text, ")");
    } else
        sprintf(text, "%c %s %lld", names[column],
                leaf.op == LESS   ? "<"
                : leaf.op == MORE ? ">"
                                  : "<>",
                (long long)from);
}

static void write_node(kr_rng *rng, condition *c, uint32_t depth, uint32_t columns)
{
    const uint64_t which = depth ? kr_rng_below(rng, 5) : 0;
    if (which == 0) {
        write_leaf(rng, c, columns);
        return;
    }
    strcat(c->text, which == 1 ? "not (" : "(");
    write_node(rng, c, depth - 1, columns);
    if (which > 1) {
        strcat(c->text, which < 4 ? ") and (" : ") or (");
        write_node(rng, c, depth - 1, columns);
    }
    strcat(c->text, ")");
    c->nodes[c->n++] = (node){which == 1 ? NOT : which < 4 ? AND : OR, 0, 0, 0};
}

/* 0 false, 1 unknown, 2 true: AND is the least, OR the largest. */
static int leaf_holds(const node *leaf, uint64_t row)
{
    const int64_t x = values[leaf->column][row];
    if (is_null(leaf->column, row))
        return leaf->op == IS_NULL ? 2 : 1;
    switch (leaf->op) {
    case LESS: return 2 * (x < leaf->from);
    case MORE: return 2 * (x > leaf->from);
    case BETWEEN: return 2 * (x >= leaf->from && x <= leaf->to);
    case NOT_EQUAL: return 2 * (x != leaf->from);
    case IN: return 2 * (x >= leaf->from && x <= leaf->to && (x - leaf->from) % 9 == 0);
    default: return 0;
    }
}

static int holds(const condition *c, uint64_t row)
{
    int stack[NODES_MOST], n = 0;
    for (uint32_t i = 0; i < c->n; ++i) {
        const node *at = c->nodes + i;
        if (at->op == NOT)
            stack[n - 1] = 2 - stack[n - 1];
        else if (at->op == AND || at->op == OR) {
            const int x = stack[--n], y = stack[n - 1];
            stack[n - 1] = (at->op == AND) == (x < y) ? x : y;
        } else
            stack[n++] = leaf_holds(at, row);
    }
    return stack[0] == 2;
}

/* ---- Batches --------------------------------------------------------------------------------- */

typedef struct batch {
    condition conditions[BATCH_MOST];
    kr_condition *parsed[BATCH_MOST];
    uint32_t n;
} batch;

static batch asked;

static void write_batch(kr_rng *rng, uint32_t n, uint32_t depth, uint32_t columns)
{
    kr_error err = {0};
    asked.n = n;
    for (uint32_t i = 0; i < n; ++i) {
        condition *c = asked.conditions + i;
        c->n = 0;
        c->text[0] = '\0';
        write_node(rng, c, depth, columns);
        if (kr_condition_parse(c->text, &asked.parsed[i], &err) != KR_OK)
            fail_msg("%s: %s", err.text, c->text);
    }
}

static void forget_batch(void)
{
    for (uint32_t i = 0; i < asked.n; ++i)
        kr_condition_destroy(asked.parsed[i]);
    asked.n = 0;
}

static uint32_t bitmaps[BATCH_MOST][ROWS_MOST / 32 + 2];

static kr_status ask(kr_table *table, uint64_t n, int with_dead, kr_report *report, kr_error *err)
{
    kr_scan_sink sinks[BATCH_MOST];
    const kr_scan_sink *pointers[BATCH_MOST] = {NULL};
    const kr_scan_options options = {.struct_size = sizeof options,
                                     .alive = with_dead ? alive : NULL,
                                     .report = report,
                                     .count_work = report != NULL};
    for (uint32_t i = 0; i < asked.n; ++i) {
        memset(bitmaps[i], 0xA5, sizeof bitmaps[i]);
        sinks[i] = (kr_scan_sink){.struct_size = sizeof *sinks, .result = KR_SCAN_BITMAP, .out = bitmaps[i]};
        pointers[i] = &sinks[i];
    }
    const kr_status status =
        kr_scan(table, (const kr_condition *const *)asked.parsed, pointers, asked.n, &options, NULL, err);
    for (uint32_t i = 0; i < asked.n; ++i)
        assert_int_equal(bitmaps[i][(n + 31) / 32], 0xA5A5A5A5u);
    return status;
}

static void check_answers(uint64_t n, int with_dead)
{
    for (uint32_t i = 0; i < asked.n; ++i)
        for (uint64_t row = 0; row < (n + 31) / 32 * 32; ++row) {
            const int is_alive = row < n && (!with_dead || (alive[row / 32] >> row % 32 & 1));
            const uint32_t want = is_alive && holds(asked.conditions + i, row);
            if ((bitmaps[i][row / 32] >> row % 32 & 1) != want)
                fail_msg("condition %u of %u, row %llu: %s", i, asked.n, (unsigned long long)row,
                         asked.conditions[i].text);
        }
}

static void skip_unless(kr_status status, const char *spec, const kr_error *err)
{
    if (status == KR_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err->text);
        skip();
    }
    if (status != KR_OK)
        fail_msg("%s: %s", spec, err->text);
}

static void agrees(void **state)
{
    static const uint32_t sizes[] = {2, 80, 31, 64, 1, 65};
    static const uint64_t rows[] = {200003, 65536, 8193, 255};
    const char *spec = *state;
    kr_error err = {0};
    kr_rng rng = {51};
    for (uint32_t t = 0; t < 4; ++t) {
        const uint64_t n = rows[t], shift = t == 2 ? 8 : 0;
        kr_table *table = NULL;
        fill(&rng, n, shift);
        skip_unless(make(spec, n, shift, &table, &err), spec, &err);
        for (uint32_t b = 0; b < (t ? 6 : 2); ++b) {
            const int with_dead = b % 2 == 1;
            write_batch(&rng, sizes[b], b % 3 + 1, 1 + (uint32_t)kr_rng_below(&rng, COLUMNS));
            if (ask(table, n, with_dead, NULL, &err) != KR_OK)
                fail_msg("%s", err.text);
            check_answers(n, with_dead);
            forget_batch();
        }
        kr_table_destroy(table);
    }
}

static void parse_into(uint32_t i, const char *text)
{
    kr_error err = {0};
    if (kr_condition_parse(text, &asked.parsed[i], &err) != KR_OK)
        fail_msg("%s: %s", err.text, text);
}

/* A wide OR in a batch, which one launch cannot hold with the others. */
static void large_conditions(void **state)
{
    enum { ROWS = 5000 };
    const char *spec = *state;
    kr_error err = {0};
    kr_rng rng = {77};
    kr_table *table = NULL;
    fill(&rng, ROWS, 0);
    skip_unless(make(spec, ROWS, 0, &table, &err), spec, &err);
    write_batch(&rng, 70, 1, COLUMNS);
    for (uint32_t i = 0; i < 70; i += 23) {
        condition *c = asked.conditions + i;
        kr_condition_destroy(asked.parsed[i]);
        c->n = 0;
        c->text[0] = '\0';
        /* Alternating, so that no two leaves fold: ((l and l) or l) and l ... */
        write_leaf(&rng, c, COLUMNS);
        while (c->n < NODES_MOST - 4) {
            memmove(c->text + 1, c->text, strlen(c->text) + 1);
            c->text[0] = '(';
            strcat(c->text, c->n % 4 == 1 ? ") or " : ") and ");
            const int op = c->n % 4 == 1 ? OR : AND;
            write_leaf(&rng, c, COLUMNS);
            c->nodes[c->n++] = (node){op, 0, 0, 0};
        }
        if (kr_condition_parse(c->text, &asked.parsed[i], &err) != KR_OK)
            fail_msg("%s: %s", err.text, c->text);
    }
    assert_int_equal(ask(table, ROWS, 1, NULL, &err), KR_OK);
    check_answers(ROWS, 1);
    forget_batch();
    kr_table_destroy(table);
}

/* A list longer than the columns' slots have room for, beside short conditions. */
static void long_lists(void **state)
{
    enum { ROWS = 5000, VALUES = 100000 };
    static uint32_t list[VALUES];
    const char *spec = *state;
    kr_error err = {0};
    kr_rng rng = {78};
    kr_table *table = NULL;
    for (uint32_t i = 0; i < VALUES; ++i)
        list[i] = 3 * i;
    fill(&rng, ROWS, 0);
    skip_unless(make(spec, ROWS, 0, &table, &err), spec, &err);
    write_batch(&rng, 5, 2, COLUMNS);
    for (uint32_t i = 1; i < 5; i += 2) {
        const kr_column many = {.type = KR_U32, .count = i == 1 ? VALUES : 2000, .data = list};
        kr_condition_destroy(asked.parsed[i]);
        assert_int_equal(kr_condition_compare("a", KR_IN, &many, &asked.parsed[i], &err), KR_OK);
    }
    assert_int_equal(ask(table, ROWS, 0, NULL, &err), KR_OK);
    for (uint32_t i = 1; i < 5; i += 2)
        for (uint64_t row = 0; row < ROWS; ++row)
            assert_int_equal(bitmaps[i][row / 32] >> row % 32 & 1, values[0][row] % 3 == 0);
    for (uint32_t i = 1; i < 5; i += 2) {
        asked.conditions[i].n = 1;
        asked.conditions[i].nodes[0] = (node){IN, 0, 0, 0};
        memset(bitmaps[i], 0, sizeof bitmaps[i]);
        for (uint64_t row = 0; row < ROWS; ++row)
            bitmaps[i][row / 32] |= (uint32_t)(values[0][row] == 0) << row % 32;
    }
    check_answers(ROWS, 0);
    forget_batch();
    kr_table_destroy(table);
}

/* Values and constants far apart, but for some constants next to each other. */
static void wide_values(void **state)
{
    enum { ROWS = 20000 };
    const char *spec = *state;
    kr_error err = {0};
    kr_rng rng = {81};
    kr_table *table = NULL;
    int64_t from[2] = {0, 0};
    fill(&rng, ROWS, 0);
    for (uint64_t i = 0; i < ROWS; ++i) {
        values[0][i] = (int64_t)(kr_rng_next(&rng) >> 32);
        values[2][i] = (int64_t)kr_rng_next(&rng);
        store(0, memory[0] + i * 4, values[0][i]);
        store(2, memory[2] + i * 8, values[2][i]);
    }
    skip_unless(make(spec, ROWS, 0, &table, &err), spec, &err);
    asked.n = 64;
    for (uint32_t i = 0; i < asked.n; ++i) {
        condition *c = asked.conditions + i;
        from[0] = i % 8 ? values[0][kr_rng_below(&rng, ROWS)] : from[0] + 1;
        from[1] = i % 8 ? values[2][kr_rng_below(&rng, ROWS)] : from[1] + 1;
        c->n = 3;
        c->nodes[0] = (node){LESS, 0, from[0], 0};
        c->nodes[1] = (node){MORE, 2, from[1], 0};
        c->nodes[2] = (node){AND, 0, 0, 0};
        sprintf(c->text, "a < %lld and c > %lld", (long long)from[0], (long long)from[1]);
        parse_into(i, c->text);
    }
    assert_int_equal(ask(table, ROWS, 0, NULL, &err), KR_OK);
    check_answers(ROWS, 0);
    forget_batch();
    kr_table_destroy(table);
}

/* Every allocation of a batch fails once; then the same table answers. */
static void faults(void **state)
{
    enum { ROWS = 3000 };
    const char *spec = *state;
    kr_error err = {0};
    kr_rng rng = {79};
    kr_table *table = NULL;
    uint64_t fails = 0;
    fill(&rng, ROWS, 0);
    skip_unless(make(spec, ROWS, 0, &table, &err), spec, &err);
    write_batch(&rng, 66, 3, COLUMNS);
    for (uint64_t at = 1;; ++at) {
        fail_at = at;
        const kr_status status = ask(table, ROWS, 0, NULL, &err);
        if (fail_at) {
            fail_at = 0;
            assert_int_equal(status, KR_OK);
            break;
        }
        assert_int_equal(status, KR_ERR_DEVICE_MEMORY);
        ++fails;
    }
    assert_true(fails > 0);
    check_answers(ROWS, 0);
    forget_batch();
    kr_table_destroy(table);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static int has_step(const kr_report *report, const char *text)
{
    for (uint32_t i = 0; i < kr_report_step_count(report); ++i)
        if (strstr(kr_report_step_text(report, i), text))
            return 1;
    return 0;
}

/* Reports and explain name the way that was taken; an OR of too much is taken apart. */
static void tells(void **state)
{
    enum { ROWS = 3000 };
    static const struct {
        const char *kind, *batch, *either;
    } ways[] = {
        {"full", "full: 3 conditions, ", "full: 2 predicates under AND and OR in one pass"},
        {"bindex:refine=scatter", "rows compared", "AND and OR by bitmaps"},
        {"bindex", "bindex: 3 conditions in one pass", "bindex: 2 predicates under AND and OR in one pass"},
        {"rtc1", "2 conditions together", "AND and OR by bitmaps"},
        {"rt", "3 conditions together", "2 conjunctions under OR in one scene"},
    };
    const char *spec = *state;
    uint32_t way = 0;
    char text[1000];
    kr_error err = {0};
    kr_rng rng = {80};
    kr_table *table = NULL;
    kr_report *report = NULL;
    while (strncmp(spec, ways[way].kind, strlen(ways[way].kind)) != 0)
        ++way;
    fill(&rng, ROWS, 0);
    skip_unless(make(spec, ROWS, 0, &table, &err), spec, &err);
    assert_int_equal(kr_report_create(&report, &err), KR_OK);
    parse_into(0, "a < 50 and b > 3");
    parse_into(1, "a between 20 and 30");
    parse_into(2, "a < 9 or b > 90");
    asked.n = 3;
    assert_int_equal(ask(table, ROWS, 0, report, &err), KR_OK);
    assert_true(has_step(report, ways[way].batch));
    assert_in_range(report_counter(report, "rows compared"), 1, UINT64_MAX - 1);
    assert_int_equal(kr_scan_explain(table, asked.parsed[2], text, sizeof text, &err), KR_OK);
    if (!strstr(text, ways[way].either))
        fail_msg("%s", text);
    kr_condition_destroy(asked.parsed[0]);
    asked.parsed[0] = asked.parsed[2];
    asked.n = 1;
    assert_int_equal(ask(table, ROWS, 0, report, &err), KR_OK);
    assert_true(has_step(report, ways[way].either));
    kr_condition_destroy(asked.parsed[1]);
    forget_batch();
    kr_report_destroy(report);
    kr_table_destroy(table);
}

static int open_once(void **state)
{
    (void)state;
    opened_name = device_name;
    open_device();
    return 0;
}

static int close_once(void **state)
{
    (void)state;
    kr_device_close(device);
    kr_device_close(backing);
    return 0;
}

/* Tests of one kind. */
#define TESTS_OF(spec)                                                                             \
    cmocka_unit_test_prestate(agrees, spec), cmocka_unit_test_prestate(large_conditions, spec),    \
        cmocka_unit_test_prestate(long_lists, spec), cmocka_unit_test_prestate(wide_values, spec), \
        cmocka_unit_test_prestate(faults, spec), cmocka_unit_test_prestate(tells, spec)

int main(int argc, char **argv)
{
    const int skips = take_device_name(argc, argv);
    const struct CMUnitTest tests[] = {
        TESTS_OF("full"),
        TESTS_OF("full:logic=and,zones=off"),
        TESTS_OF("full:narrow=on"),
        TESTS_OF("bindex"),
        TESTS_OF("bindex:vectors=4"),
        TESTS_OF("bindex:refine=scatter,vectors=9"),
        TESTS_OF("rtscan"),
        TESTS_OF("rtscan:pack=3,groups=a+b+c,d+e,vectors=8"),
        TESTS_OF("rtc3:rays=30"),
        TESTS_OF("rtc1:rays=300"),
    };
    return skips ? skips : cmocka_run_group_tests(tests, open_once, close_once);
}
