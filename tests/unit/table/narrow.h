/* Tables of kind `full` with narrow copies: columns, conditions on them, and the rows that these should
 * select. */
#ifndef KEYRAY_TESTS_UNIT_TABLE_NARROW_H
#define KEYRAY_TESTS_UNIT_TABLE_NARROW_H

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

static inline uint64_t most_of(kr_type type)
{
    return ~UINT64_C(0) >> (64 - 8 * kr_type_nbytes(type));
}

static inline void begin(kr_type type)
{
    memset(&m, 0, sizeof m);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        m.columns[c] = (kr_column){.type = type, .data = m.data[c], .validity = m.validity[c]};
        m.lowest[c] = UINT64_MAX;
    }
}

/* A row of which NULLs have any bits. */
static inline void put(uint32_t c, uint64_t row, uint64_t code, int is_valid)
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
static inline void add_rows(uint32_t c, uint64_t count, uint64_t base, uint64_t span, uint64_t nulls)
{
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t code = i == 0 ? base : i == 1 ? base + span : base + kr_rng_below(&rng, span + 1);
        put(c, m.n + i, code, i < 2 || !nulls || kr_rng_below(&rng, nulls));
    }
}

static inline void count_rows(uint64_t count)
{
    m.n += count;
    for (uint32_t c = 0; c < COLUMNS; ++c)
        m.columns[c].count = m.n;
}

/* Bytes of the copy that a column should have. */
static inline uint64_t narrow_nbytes(const char *spec, uint32_t c)
{
    const kr_type type = m.columns[c].type;
    const uint64_t share = strstr(spec, "narrow=on") ? 2 : strstr(spec, "narrow=off") ? 99 : 4;
    const uint64_t span = m.highest[c] - m.lowest[c], nbytes = span < 256 ? 1 : span < 65536 ? 2 : 99;
    return m.lowest[c] > m.highest[c] || kr_type_is_float(type) || nbytes * share > kr_type_nbytes(type)
               ? 0
               : nbytes;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static inline kr_table *create(const char *spec)
{
    kr_table *table = NULL;
    kr_error err = {0};
    if (kr_table_create(device, spec, m.columns, names, COLUMNS, NULL, NULL, &table, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    return table;
}

static inline uint64_t component(const kr_table *table, const char *name)
{
    for (uint32_t i = 0; i < kr_table_component_count(table); ++i)
        if (!strcmp(kr_table_component_name(table, i), name))
            return kr_table_component_nbytes(table, i);
    return 0;
}

static inline uint64_t counter(const kr_table *table, const char *name)
{
    for (uint32_t i = 0; i < kr_table_counter_count(table); ++i)
        if (!strcmp(kr_table_counter_name(table, i), name))
            return kr_table_counter_value(table, i);
    return UINT64_MAX;
}

/* `grown`: copies may have room. */
static inline void check_facts(kr_table *table, const char *spec, int grown)
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

static inline void forget(void)
{
    while (asked.n)
        kr_condition_destroy(asked.conditions[--asked.n]);
}

static inline void expect_row(uint64_t row, int holds)
{
    if (row == 0)
        memset(asked.want[asked.n], 0, sizeof *asked.want);
    asked.want[asked.n][row / 32] |= (uint32_t)(holds != 0) << row % 32;
}

static inline void add_condition(const kr_predicate *p, int negated)
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
static inline void add_both(uint32_t one, uint32_t other, int is_or)
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

static inline void scan(kr_table *table, uint32_t first, uint32_t n)
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

static inline void compare(const char *spec)
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
static inline void check_scans(kr_table *table, const char *spec)
{
    for (uint32_t i = 0; i < asked.n; ++i)
        scan(table, i, 1);
    compare(spec);
    scan(table, 0, asked.n);
    compare(spec);
}

/* A code near an end of what the column has, or near an end of its type. */
static inline uint64_t any_code(uint32_t c)
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

static inline void ask_random(uint32_t c)
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

static inline void ask(void)
{
    forget();
    while (asked.n < 20)
        ask_random((uint32_t)kr_rng_below(&rng, COLUMNS));
    for (uint32_t i = 0; i < 10; ++i)
        add_both((uint32_t)kr_rng_below(&rng, 20), (uint32_t)kr_rng_below(&rng, 20), i % 2);
}

#endif
