/* Tables that change: random sequences of appends, deletes and scans, of every kind of scan,
 * against loops over plain columns. */
#include "device_name.h"
#include "memory.h"
#include "predicates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 4, ROWS_MOST = 300000, WORDS_MOST = ROWS_MOST / 32 + 1 };

/* The rows that the table should have. */
typedef struct model {
    kr_column columns[COLUMNS]; /* all with validity */
    uint8_t data[COLUMNS][8 * ROWS_MOST], validity[COLUMNS][ROWS_MOST / 8 + 1];
    uint32_t alive[WORDS_MOST];
    uint64_t n, n_alive;
} model;

static const char *const names[COLUMNS] = {"a", "b", "c", "d"};
static model m;
static kr_device *device;
static kr_table *table;
static const char *spec;
static kr_rng rng;

/* ---- Rows ------------------------------------------------------------------------------------ */

enum { EVEN, FEW, ASCENDING, EXTREMES, SHAPES };

static uint64_t bits_of(kr_type type, uint32_t shape, uint64_t row)
{
    switch (shape) {
    case FEW: return kr_value_of_code(type, 1000 + kr_rng_below(&rng, 5));
    case ASCENDING: return kr_value_of_code(type, 100 + row);
    case EXTREMES: return kr_value_extreme(type, kr_rng_below(&rng, 40));
    default: return kr_value_of_code(type, kr_rng_next(&rng));
    }
}

static void begin_model(uint64_t seed, const kr_type types[COLUMNS])
{
    rng = (kr_rng){seed};
    memset(&m, 0, sizeof m);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        m.columns[c] = (kr_column){.type = types[c], .data = m.data[c], .validity = m.validity[c]};
}

/* Bits of the last rows from any bit of a byte on. */
static void shift_validity(uint32_t c, uint64_t count, kr_column *more)
{
    static uint8_t shifted[COLUMNS][ROWS_MOST / 8 + 16];
    const uint64_t offset = kr_rng_below(&rng, 60);
    memset(shifted[c], (int)kr_rng_below(&rng, 256), sizeof shifted[c]);
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t row = m.n + i, at = offset + i;
        const uint8_t bit = (uint8_t)(1 << at % 8);
        const int is_valid = m.validity[c][row / 8] >> row % 8 & 1;
        shifted[c][at / 8] = (uint8_t)(is_valid ? shifted[c][at / 8] | bit : shifted[c][at / 8] & ~bit);
    }
    more->validity = shifted[c];
    more->validity_offset = offset;
}

/* New rows of the model, and columns of them: some have no validity, then no row is NULL. */
static void add_rows(uint64_t count, const uint32_t shapes[COLUMNS], kr_column more[COLUMNS])
{
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        const kr_type type = m.columns[c].type;
        const int has_nulls = kr_rng_below(&rng, 3) == 0;
        for (uint64_t r = m.n; r < m.n + count; ++r) {
            kr_value_store_bits(type, m.data[c], r, bits_of(type, shapes[c], r));
            if (!has_nulls || kr_rng_below(&rng, 4))
                m.validity[c][r / 8] |= (uint8_t)(1 << r % 8);
        }
        more[c] = (kr_column){.type = type, .count = count, .data = m.data[c] + m.n * kr_type_nbytes(type)};
        if (has_nulls)
            shift_validity(c, count, more + c);
        m.columns[c].count += count;
    }
    for (uint64_t r = m.n; r < m.n + count; ++r)
        m.alive[r / 32] |= (uint32_t)1 << r % 32;
    m.n += count;
    m.n_alive += count;
}

static int is_alive(uint64_t row)
{
    return (int)(m.alive[row / 32] >> row % 32 & 1);
}

static void kill(uint64_t row)
{
    m.n_alive -= (uint64_t)is_alive(row);
    m.alive[row / 32] &= ~((uint32_t)1 << row % 32);
}

static kr_place any_place(void)
{
    return kr_rng_below(&rng, 2) ? KR_PLACE_HOST : KR_PLACE_DEVICE;
}

/* The columns in guarded memory of the host or the device. */
static void place(const kr_column *columns, kr_placed placed[COLUMNS], kr_column views[COLUMNS])
{
    kr_error err = {0};
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        if (kr_placed_make(device, any_place(), columns + c, (uint32_t)kr_rng_below(&rng, 3), placed + c,
                           &err) != KR_OK)
            fail_msg("%s", err.text);
        views[c] = placed[c].view;
    }
}

static void release(kr_placed placed[COLUMNS])
{
    for (uint32_t c = 0; c < COLUMNS; ++c)
        kr_placed_free(placed + c);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static kr_table_info info_of(void)
{
    kr_table_info info = {.struct_size = sizeof info};
    assert_int_equal(kr_table_query(table, &info, NULL), KR_OK);
    return info;
}

static uint64_t component(const char *name)
{
    for (uint32_t i = 0; i < kr_table_component_count(table); ++i)
        if (!strcmp(kr_table_component_name(table, i), name))
            return kr_table_component_nbytes(table, i);
    return 0;
}

static void check_facts(void)
{
    uint64_t sum = 0;
    kr_error err = {0};
    if (kr_table_validate(table, &err) != KR_OK)
        fail_msg("%s, %llu rows: %s", spec, (unsigned long long)m.n, err.text);
    const kr_table_info info = info_of(); /* to validate, scenes are built */
    assert_int_equal(info.rows, m.n);
    assert_int_equal(info.alive_rows, m.n_alive);
    for (uint32_t i = 0; i < kr_table_component_count(table); ++i)
        sum += kr_table_component_nbytes(table, i);
    assert_int_equal(sum, info.footprint_nbytes);
    assert_true(info.peak_nbytes >= info.footprint_nbytes || component("bvh"));
}

/* ---- Scans ----------------------------------------------------------------------------------- */

/* What a scan should find: a bitmap, the number of rows, and the sum of column 0, which are integers. */
typedef struct answer {
    uint32_t bitmap[WORDS_MOST];
    uint64_t count, sum;
} answer;

static void expect(const kr_predicate *predicates, uint32_t n, const uint32_t *alive, answer *want)
{
    memset(want, 0, sizeof *want);
    for (uint64_t r = 0; r < m.n; ++r) {
        int holds = is_alive(r) && (!alive || (alive[r / 32] >> r % 32 & 1));
        for (uint32_t i = 0; i < n && holds; ++i)
            holds = kr_predicate_holds(m.columns, predicates + i, r);
        want->bitmap[r / 32] |= (uint32_t)holds << r % 32;
        want->count += (uint64_t)holds;
        if (holds && kr_value_is_valid(m.columns, r))
            want->sum += kr_value_integer(m.columns[0].type, kr_value_at(m.columns, r));
    }
}

static void scan(const kr_condition *condition, const kr_scan_sink *const *sinks, uint32_t n,
                 const uint32_t *alive)
{
    const kr_condition *conditions[] = {condition, condition, condition};
    const kr_scan_options options = {.struct_size = sizeof options, .alive = alive};
    kr_error err = {0};
    if (kr_scan(table, conditions, sinks, n, &options, NULL, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
}

static void check_answer(const kr_condition *condition, const uint32_t *alive, const answer *want)
{
    static uint32_t bitmap[WORDS_MOST], rows[ROWS_MOST];
    uint64_t count = 0, n_rows = 0, sum = 0, at = 0;
    const kr_scan_sink whole = {.struct_size = sizeof whole, .result = KR_SCAN_BITMAP, .out = bitmap},
                       counted = {.struct_size = sizeof counted, .result = KR_SCAN_COUNT, .out = &count},
                       summed = {.struct_size = sizeof summed, .result = KR_SCAN_SUM, .out = &sum},
                       listed = {.struct_size = sizeof listed,
                                 .result = KR_SCAN_ROWS,
                                 .out = &n_rows,
                                 .rows = rows,
                                 .rows_capacity = ROWS_MOST};
    const kr_scan_sink *one[] = {&whole}, *several[] = {&counted, &listed, &summed};
    memset(bitmap, 0xA5, sizeof bitmap);
    scan(condition, one, 1, alive);
    scan(condition, several, 3, alive);
    for (uint64_t w = 0; w < (m.n + 31) / 32; ++w)
        if (bitmap[w] != want->bitmap[w])
            fail_msg("%s, %llu rows: word %llu is %08x, not %08x", spec, (unsigned long long)m.n,
                     (unsigned long long)w, bitmap[w], want->bitmap[w]);
    assert_int_equal(count, want->count);
    assert_int_equal(n_rows, want->count);
    assert_int_equal(sum, want->sum);
    for (uint64_t r = 0; r < m.n; ++r)
        if (want->bitmap[r / 32] >> r % 32 & 1)
            assert_int_equal(rows[at++], r);
}

/* Some conditions, the first of which is none, with and without the caller's own bitmap of rows. */
static void check_scans(uint32_t times)
{
    static uint32_t alive[WORDS_MOST];
    static answer want;
    for (uint32_t i = 0; i < times; ++i) {
        kr_predicate predicates[COLUMNS];
        const uint32_t n = i ? kr_predicates_make(m.columns, COLUMNS, &rng, predicates) : 0;
        kr_condition *condition = NULL;
        const uint32_t *given = kr_rng_below(&rng, 3) ? NULL : alive;
        for (uint64_t w = 0; w < (m.n + 31) / 32; ++w)
            alive[w] = (uint32_t)kr_rng_next(&rng);
        if (n)
            assert_int_equal(kr_predicates_condition(m.columns, names, predicates, n, &condition, NULL),
                             KR_OK);
        expect(predicates, n, given, &want);
        check_answer(condition, given, &want);
        kr_condition_destroy(condition);
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* A table of `count` rows, whose columns go away with the first append. 0: nothing casts rays here. */
static int create(uint64_t count, const uint32_t shapes[COLUMNS], kr_placed placed[COLUMNS])
{
    kr_column more[COLUMNS], views[COLUMNS];
    kr_error err = {0};
    add_rows(count, shapes, more);
    place(more, placed, views);
    const kr_status status = kr_table_create(device, spec, views, names, COLUMNS, NULL, NULL, &table, &err);
    if (status == KR_ERR_UNSUPPORTED)
        print_message("skipped %s: %s\n", spec, err.text);
    else if (status != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    if (status != KR_OK)
        release(placed);
    return status == KR_OK;
}

static void append(uint64_t count, const uint32_t shapes[COLUMNS])
{
    kr_column more[COLUMNS], views[COLUMNS];
    kr_placed placed[COLUMNS] = {0};
    kr_error err = {0};
    add_rows(count, shapes, more);
    place(more, placed, views);
    if (kr_table_append(table, views, COLUMNS, NULL, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    release(placed);
}

/* Rows in any order, some twice, some dead already; with `foreign` one of them is none, and nothing goes. */
static void delete_rows(uint64_t count, int foreign)
{
    uint32_t *rows = calloc(count + 1, sizeof *rows);
    const uint64_t before = m.n_alive, at = kr_rng_below(&rng, count);
    uint64_t n_deleted = UINT64_MAX;
    kr_placed placed = {0};
    kr_error err = {0};
    for (uint64_t i = 0; i < count; ++i) {
        rows[i] = (uint32_t)kr_rng_below(&rng, m.n);
        if (!foreign)
            kill(rows[i]);
    }
    if (foreign)
        rows[at] = (uint32_t)(m.n + kr_rng_below(&rng, 2) * kr_rng_below(&rng, 40));
    const kr_column ids = {.type = KR_U32, .count = count, .data = rows};
    assert_int_equal(kr_placed_make(device, any_place(), &ids, 0, &placed, &err), KR_OK);
    const kr_status status = kr_table_delete(table, placed.view.data, count, NULL, &n_deleted, &err);
    assert_int_equal(status, foreign ? KR_ERR_ARGUMENT : KR_OK);
    assert_int_equal(n_deleted, foreign ? UINT64_MAX : before - m.n_alive);
    if (foreign) {
        char index[32];
        snprintf(index, sizeof index, "rows[%llu] ", (unsigned long long)at);
        assert_non_null(strstr(err.text, index));
    }
    kr_placed_free(&placed);
    free(rows);
}

static void delete_where(void)
{
    static answer want;
    kr_predicate predicates[COLUMNS];
    const uint32_t n = kr_predicates_make(m.columns, COLUMNS, &rng, predicates);
    kr_condition *condition = NULL;
    uint64_t n_deleted = UINT64_MAX;
    kr_error err = {0};
    assert_int_equal(kr_predicates_condition(m.columns, names, predicates, n, &condition, NULL), KR_OK);
    expect(predicates, n, NULL, &want);
    if (kr_table_delete_where(table, condition, NULL, &n_deleted, &err) != KR_OK)
        fail_msg("%s: %s", spec, err.text);
    kr_condition_destroy(condition);
    assert_int_equal(n_deleted, want.count);
    for (uint64_t w = 0; w < (m.n + 31) / 32; ++w)
        m.alive[w] &= ~want.bitmap[w];
    m.n_alive -= want.count;
}

/* ---- Sequences ------------------------------------------------------------------------------- */

static const char *const specs[] = {
    "full",
    "full:zones=off",
    "full:logic=branching",
    "full:narrow=on",
    "full:narrow=off",
    "bindex",
    "bindex:vectors=2",
    "bindex:vectors=256",
    "bindex:refine=scatter",
    "rtscan",
    "rtscan:preset=paper",
    "rtscan:pack=3,vectors=8,groups=d+a,scenes=lazy",
    "rtc1:rays=100",
    "rtc3:rays=12",
};
enum { SPECS = sizeof specs / sizeof *specs };

static void change_once(void)
{
    static const uint64_t chunks[] = {0, 1, 2, 31, 32, 33, 100, 700, 1025, 3000};
    const uint64_t choice = kr_rng_below(&rng, 10);
    if (choice < 5) {
        uint32_t shapes[COLUMNS];
        for (uint32_t c = 0; c < COLUMNS; ++c)
            shapes[c] = (uint32_t)kr_rng_below(&rng, SHAPES);
        append(chunks[kr_rng_below(&rng, sizeof chunks / sizeof *chunks)], shapes);
    } else if (choice < 8 && m.n) {
        delete_rows(1 + kr_rng_below(&rng, m.n / 4 + 2), choice == 7);
    } else {
        delete_where();
    }
}

static void run_sequence(uint64_t seed, uint32_t steps)
{
    static const uint64_t counts[] = {0, 1, 40, 1000};
    const kr_type types[COLUMNS] = {(kr_type)(seed % 2 ? KR_U32 : KR_I64), (kr_type)(1 + seed % KR_N_TYPES),
                                    KR_F32, (kr_type)(1 + (seed * 5 + 2) % KR_N_TYPES)};
    const uint32_t even[COLUMNS] = {EVEN, FEW, EVEN, EXTREMES};
    kr_placed placed[COLUMNS] = {0};
    begin_model(seed, types);
    if (!create(counts[seed % 4], even, placed))
        return;
    check_scans(2);
    for (uint32_t s = 0; s < steps; ++s) {
        change_once();
        if (info_of().copied_columns == COLUMNS)
            release(placed); /* the table needs them no more */
        check_facts();
        check_scans(4);
    }
    kr_table_destroy(table);
    release(placed);
}

/* What threads do at the same time does not depend on the rows; under sanitizers all takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FEWER = 4 };
#else
enum { FEWER = 1 };
#endif

static void follow_the_model(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s) {
        spec = specs[s];
        for (uint64_t seed = 0; seed < (*spec == 'r' ? 4 : 12) / FEWER; ++seed)
            run_sequence(100 * s + seed, *spec == 'r' ? 12 : 20);
    }
}

/* From one row to several tiles of 65,536, across their borders; parts of bindex are made anew on the way. */
static void grow_over_tiles(void **state)
{
    static const uint64_t chunks[] = {30,    1, 1,     65503, 1,   7,  65536, 33,
                                      40000, 0, 65537, 4096,  513, 31, 20000};
    const kr_type types[COLUMNS] = {KR_U32, KR_I64, KR_F32, KR_U8};
    const uint32_t shapes[COLUMNS] = {ASCENDING, EVEN, EVEN, FEW};
    (void)state;
    for (uint32_t s = 0; s < 8; ++s) {
        kr_placed placed[COLUMNS] = {0};
        spec = specs[s];
        begin_model(s, types);
        assert_true(create(1, shapes, placed));
        for (uint32_t i = 0; i < sizeof chunks / sizeof *chunks; ++i) {
            append(chunks[i], shapes);
            check_facts();
            if (i % 3 == 0)
                delete_rows(1 + m.n / 50, 0);
            check_scans(3);
        }
        kr_table_destroy(table);
        release(placed);
    }
}

/* Zones of a table that grew decide as those of one made at once. */
static void zones_follow(void **state)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_I64, KR_I32, KR_U16};
    const uint32_t ascending[COLUMNS] = {ASCENDING, ASCENDING, ASCENDING, ASCENDING},
                   even[COLUMNS] = {ASCENDING, EVEN, ASCENDING, EVEN};
    kr_placed placed[COLUMNS] = {0};
    kr_table *grown = NULL;
    (void)state;
    spec = "full";
    begin_model(7, types);
    assert_true(create(5, ascending, placed));
    for (uint32_t i = 0; i < 20; ++i) {
        append(i % 2 ? 1024 : 700, i < 4 ? ascending : even);
        grown = table;
        assert_int_equal(kr_table_create(device, spec, m.columns, names, COLUMNS, NULL, NULL, &table, NULL),
                         KR_OK);
        assert_string_equal(kr_table_counter_name(table, 0), "clustered columns");
        assert_int_equal(kr_table_counter_value(grown, 0), kr_table_counter_value(table, 0));
        kr_table_destroy(table);
        table = grown;
    }
    assert_in_range(kr_table_counter_value(table, 0), 2, 3);
    kr_table_destroy(table);
    release(placed);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The first append copies the columns and makes room; appends that fit in it leave them where they are. */
static void room_is_kept_and_used(void **state)
{
    enum { N = 40000, MORE = 1000 };
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {EVEN, EVEN, EVEN, EVEN};
    kr_placed placed[COLUMNS] = {0};
    uint64_t spare = 0, moves = 0;
    (void)state;
    spec = "full";
    begin_model(21, types); /* no column of these batches has validity */
    assert_true(create(N, shapes, placed));
    assert_int_equal(component("spare room"), 0);
    for (uint32_t i = 0; i < 12; ++i) {
        append(MORE, shapes);
        check_facts();
        const uint64_t now = component("spare room");
        const int has_moved = now > spare;
        moves += (uint64_t)has_moved;
        spare = now;
        assert_true(component("columns") >= 4 * COLUMNS * m.n);
        assert_true(spare <= component("columns") / 8 + 1024 * 4 * COLUMNS + 4 * N);
        assert_int_equal(info_of().copied_columns, COLUMNS);
        /* Where columns stay, no second copy of them is held. */
        if (!has_moved)
            assert_true(info_of().peak_nbytes < info_of().footprint_nbytes + (N + m.n) * 4);
    }
    assert_in_range(moves, 2, 8);
    assert_int_equal(component("alive rows"), 0);
    delete_rows(1, 0);
    assert_in_range(component("alive rows"), m.n / 8, m.n / 8 + m.n / 32);
    kr_table_destroy(table);
    release(placed);
}

static int open_device(void **state)
{
    (void)state;
    return kr_device_open(device_name, NULL, &device, NULL);
}

static int close_device(void **state)
{
    kr_device_info info = {.struct_size = sizeof info};
    (void)state;
    const kr_status status = kr_device_query(device, &info, NULL);
    kr_device_close(device);
    return status != KR_OK || info.in_use_nbytes; /* nothing leaks */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follow_the_model),
        cmocka_unit_test(grow_over_tiles),
        cmocka_unit_test(zones_follow),
        cmocka_unit_test(room_is_kept_and_used),
    };
    const int skipped = take_device_name(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, open_device, close_device);
}
