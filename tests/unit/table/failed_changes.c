/* Changes of tables that fail or are cancelled at every point leave the table as it was. */
#include "base/devices/device.h"
#include "cancelling_device.h"
#include "failing_device.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 3, ROWS_MOST = 8192 };

static uint32_t a[ROWS_MOST];
static int64_t b[ROWS_MOST];
static float c[ROWS_MOST];
static uint8_t validity[ROWS_MOST / 8]; /* of b */
static uint8_t is_dead[ROWS_MOST];
static uint64_t n_rows;
static kr_table *table;

static const char *const specs[] = {
    "full",           "full:zones=off",   "full:narrow=on",        "full:narrow=off",
    "bindex",         "bindex:vectors=2", "bindex:refine=scatter", "rtscan:vectors=4",
    "rtc1:rays=2000", "rtc3:rays=60"};
enum { SPECS = sizeof specs / sizeof *specs };

/* ---- Rows ------------------------------------------------------------------------------------ */

static void fill(void)
{
    for (uint32_t i = 0; i < ROWS_MOST; ++i) {
        a[i] = i * 7919u % 1000;
        b[i] = (int64_t)(i * 31u % 777) - 300;
        c[i] = (float)(i % 50) / 8;
        validity[i / 8] |= (uint8_t)((i % 5 != 0) << i % 8);
    }
    memset(validity, 0xFF, 3000 / 8); /* b of the first rows has no validity, and no NULL */
}

static void describe(uint64_t first, uint64_t end, kr_column columns[COLUMNS])
{
    columns[0] = (kr_column){.type = KR_U32, .count = end - first, .data = a + first};
    columns[1] = (kr_column){.type = KR_I64,
                             .count = end - first,
                             .data = b + first,
                             .validity = first ? validity : NULL,
                             .validity_offset = first};
    columns[2] = (kr_column){.type = KR_F32, .count = end - first, .data = c + first};
}

static int is_valid(uint64_t row)
{
    return validity[row / 8] >> row % 8 & 1;
}

static uint64_t ask(const char *where)
{
    kr_condition *condition = NULL;
    uint64_t count = 0;
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count};
    const kr_scan_sink *sinks[] = {&sink};
    kr_error err = {0};
    assert_int_equal(kr_condition_parse(where, &condition, NULL), KR_OK);
    const kr_condition *conditions[] = {condition};
    if (kr_scan(table, conditions, sinks, 1, NULL, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
    kr_condition_destroy(condition);
    return count;
}

static void check(void)
{
    uint64_t all = 0, some = 0, nulls = 0;
    kr_table_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    for (uint64_t r = 0; r < n_rows; ++r) {
        all += !is_dead[r];
        some += !is_dead[r] && a[r] < 500 && is_valid(r) && b[r] >= 0 && c[r] < 5;
        nulls += !is_dead[r] && !is_valid(r);
    }
    if (kr_table_validate(table, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kr_table_query(table, &info, NULL), KR_OK);
    assert_int_equal(info.rows, n_rows);
    assert_int_equal(info.alive_rows, all);
    assert_int_equal(ask(""), all);
    assert_int_equal(ask("a < 500 and b >= 0 and c < 5"), some);
    assert_int_equal(ask("b is null"), nulls);
}

/* ---- Changes --------------------------------------------------------------------------------- */

typedef enum step { APPEND_MOVES, APPEND_FITS, DELETE_ROWS, DELETE_WHERE, APPEND_MOVES_ALL, STEPS } step;
static const uint64_t appended[STEPS] = {[APPEND_MOVES] = 700, [APPEND_FITS] = 33, [APPEND_MOVES_ALL] = 2000};
static const uint32_t doomed[] = {5, 6, 2999, 3001, 5, 3500};
enum { DOOMED = sizeof doomed / sizeof *doomed };

static kr_status change(step s, kr_error *err)
{
    kr_column more[COLUMNS];
    kr_condition *condition = NULL;
    if (s == DELETE_ROWS)
        return kr_table_delete(table, doomed, DOOMED, NULL, NULL, err);
    if (s != DELETE_WHERE) {
        describe(n_rows, n_rows + appended[s], more);
        return kr_table_append(table, more, COLUMNS, NULL, err);
    }
    assert_int_equal(kr_condition_parse("a between 100 and 200 and c < 3", &condition, NULL), KR_OK);
    const kr_status status = kr_table_delete_where(table, condition, NULL, NULL, err);
    kr_condition_destroy(condition);
    return status;
}

static void note(step s)
{
    n_rows += appended[s];
    for (uint32_t i = 0; s == DELETE_ROWS && i < DOOMED; ++i)
        is_dead[doomed[i]] = 1;
    for (uint64_t r = 0; s == DELETE_WHERE && r < n_rows; ++r)
        is_dead[r] |= a[r] >= 100 && a[r] <= 200 && c[r] < 3;
}

static uint64_t footprint(void)
{
    kr_table_info info = {.struct_size = sizeof info};
    assert_int_equal(kr_table_query(table, &info, NULL), KR_OK);
    return info.footprint_nbytes;
}

/* Fails at every point in turn; then it goes through. */
static void fail_step(step s, uint64_t *countdown, kr_status wanted)
{
    uint32_t failed = 0;
    for (kr_status status = wanted; status != KR_OK;) {
        kr_error err = {0};
        const uint64_t in_use = atomic_load(&device->in_use_nbytes), bytes = footprint();
        *countdown = ++failed;
        status = change(s, &err);
        *countdown = 0;
        if (status != KR_OK) {
            if (status != wanted)
                fail_msg("%s", err.text);
            assert_true(atomic_load(&device->in_use_nbytes) == in_use && footprint() == bytes);
        } else {
            note(s);
        }
        check();
    }
    assert_true(failed > (wanted == KR_ERR_CANCELLED ? 1 : 2));
}

static void fail_steps(uint64_t *countdown, kr_status wanted)
{
    kr_column columns[COLUMNS];
    for (uint32_t i = 0; i < SPECS; ++i) {
        kr_error err = {0};
        n_rows = 3000;
        memset(is_dead, 0, sizeof is_dead);
        describe(0, n_rows, columns);
        const char *const names[COLUMNS] = {"a", "b", "c"};
        const kr_status status =
            kr_table_create(device, specs[i], columns, names, COLUMNS, NULL, NULL, &table, &err);
        if (status == KR_ERR_UNSUPPORTED) {
            print_message("skipped %s: %s\n", specs[i], err.text);
            continue;
        }
        assert_int_equal(status, KR_OK);
        for (uint32_t s = 0; s < STEPS; ++s)
            fail_step((step)s, countdown, wanted);
        kr_table_destroy(table);
    }
    assert_int_equal(atomic_load(&device->in_use_nbytes), 0);
}

static void failed_allocations_change_nothing(void **state)
{
    (void)state;
    fail_steps(&fail_at, KR_ERR_DEVICE_MEMORY);
}

static void cancelling_changes_nothing(void **state)
{
    kr_device_ops half;
    (void)state;
    cancel_programs(device, &half);
    fail_steps(&cancel_at, KR_ERR_CANCELLED);
    device->ops = real_ops;
}

/* Where there is no memory for primitives, the error names an option that the kind has. */
static void primitives_name_what_helps(void **state)
{
    static const struct {
        const char *spec, *what, *says;
    } of[] = {{"rtscan:vectors=4", " for boxes: ", "; give parts=..."},
              {"rtc3:rays=60", " for boxes: ", "; kind rtscan builds a scene in parts"},
              {"rtc1:rays=2000", " for triangles: ", "; kind rtscan builds a scene in parts"}};
    kr_column columns[COLUMNS];
    (void)state;
    describe(0, 3000, columns);
    for (uint32_t i = 0; i < sizeof of / sizeof *of; ++i) {
        kr_status status = KR_ERR_DEVICE_MEMORY;
        uint32_t seen = 0;
        for (uint32_t n = 1; status == KR_ERR_DEVICE_MEMORY; ++n) {
            kr_error err = {0};
            fail_at = n;
            status = kr_table_create(device, of[i].spec, columns, NULL, COLUMNS, NULL, NULL, &table, &err);
            fail_at = 0;
            if (status == KR_ERR_DEVICE_MEMORY && strstr(err.text, of[i].what)) {
                assert_non_null(strstr(err.text, of[i].says));
                ++seen;
            }
        }
        if (status == KR_ERR_UNSUPPORTED)
            continue;
        assert_int_equal(status, KR_OK);
        assert_true(seen > 0);
        kr_table_destroy(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocations_change_nothing),
        cmocka_unit_test(cancelling_changes_nothing),
        cmocka_unit_test(primitives_name_what_helps),
    };
    fill();
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
