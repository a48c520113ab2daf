/* What the library does for kinds with updates, on an index of kind `array` with wrapped operations:
 * kr_index_update checks, copies columns to the device, keeps count of row ids and reports. */
#include "index/kinds/index.h"
#include "index/results/dense.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 6, MOST = 8 };

typedef struct fixture {
    kr_device *device;
    kr_index *index;
    const kr_family_ops *real;
    kr_family_ops ops;
    kr_kind kind;
    kr_device_ops far; /* of a device that does not reach this struct */
    const kr_device_ops *device_ops;
    uint32_t inserts[MOST], rows[MOST], deletes[MOST];
    uint8_t validity[1];
    /* What update got last, and answers. */
    uint32_t calls;
    kr_status answer;
    kr_update got;
    uint32_t got_inserts[MOST], got_rows[MOST], got_deletes[MOST];
    /* The row ids of the index from then on, if there are any. */
    uint32_t left[MOST];
    uint64_t n_left;
} fixture;

static fixture f; /* operations have no place for one of their own */

static void keep(uint32_t *to, const void *from, uint64_t n)
{
    if (n && from)
        memcpy(to, from, n * sizeof *to);
}

static void update(kr_work *w, void *self, const kr_update *job)
{
    (void)self;
    f.calls++;
    f.got = *job;
    keep(f.got_inserts, job->insert_keys.data, job->insert_keys.count);
    keep(f.got_rows, job->insert_rows, job->insert_keys.count);
    keep(f.got_deletes, job->delete_keys.data, job->delete_keys.count);
    if (f.answer)
        KR_STEP(w, kr_fail(w->err, f.answer, "made up"));
    else
        kr_work_lap(w, "apply");
}

static kr_rows rows(const void *self)
{
    return f.n_left ? kr_dense_rows(f.left, sizeof f.left[0], f.n_left) : f.real->rows(self);
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    (void)self;
    counters[0] = (kr_counter){"lists", 3};
    counters[1] = (kr_counter){"nodes", 4 + f.calls};
    return 2;
}

static kr_place place_far(kr_device *device, const void *pointer)
{
    const uintptr_t at = (uintptr_t)pointer, begin = (uintptr_t)&f;
    (void)device;
    return at >= begin && at < begin + sizeof f ? KR_PLACE_HOST : KR_PLACE_HERE;
}

/* From now on what lies in the fixture must be staged, as on a GPU. */
static void move_away(void)
{
    f.device_ops = f.device->ops;
    f.far = *f.device_ops;
    f.far.is_host = 0;
    f.far.place = place_far;
    f.device->ops = &f.far;
}

static void create(const kr_column *keys, const uint32_t *row_ids)
{
    assert_int_equal(kr_index_create(f.device, "array", keys, row_ids, NULL, &f.index, NULL), KR_OK);
    f.real = f.index->ops;
    f.ops = *f.real;
    f.ops.next = NULL;
    f.ops.update = update;
    f.ops.rows = rows;
    f.ops.counters = counters;
    f.kind = *f.index->spec.kind;
    f.kind.capabilities |= KR_CAN_UPDATE;
    f.index->ops = &f.ops;
    f.index->spec.kind = &f.kind;
}

static const uint32_t first_keys[ROWS] = {10, 20, 30, 40, 50, 60};

static void create_plain(void)
{
    const kr_column keys = {.type = KR_U32, .count = ROWS, .data = first_keys};
    create(&keys, NULL);
}

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    for (uint32_t i = 0; i < MOST; ++i) {
        f.inserts[i] = 100 + i;
        f.rows[i] = 50 - i;
        f.deletes[i] = 20 + 10 * i;
    }
    return kr_device_open("cpu", NULL, &f.device, NULL) != KR_OK;
}

static int tear_down(void **state)
{
    (void)state;
    kr_index_destroy(f.index);
    if (f.device_ops)
        f.device->ops = f.device_ops;
    kr_device_close(f.device);
    return 0;
}

/* 0 of either: NULL for its column. */
static kr_status change(uint64_t n_inserts, int with_rows, uint64_t n_deletes, kr_error *err)
{
    const kr_column inserts = {.type = KR_U32, .count = n_inserts, .data = f.inserts};
    const kr_column deletes = {.type = KR_U32, .count = n_deletes, .data = f.deletes};
    return kr_index_update(f.index, n_inserts ? &inserts : NULL, with_rows ? f.rows : NULL,
                           n_deletes ? &deletes : NULL, NULL, err);
}

static kr_index_info info(void)
{
    kr_index_info now = {.struct_size = sizeof now};
    assert_int_equal(kr_index_query(f.index, &now, NULL), KR_OK);
    return now;
}

static void expect_kept(const kr_index_info *before, uint64_t row_limit)
{
    const kr_index_info after = info();
    assert_memory_equal(before, &after, sizeof after);
    assert_int_equal(f.index->row_limit, row_limit);
}

static void hands_over(void **state)
{
    kr_error err = {0};
    (void)state;
    create_plain();
    if (change(3, 0, 2, &err))
        fail_msg("%s", err.text);
    assert_int_equal(f.calls, 1);
    assert_int_equal(f.got.insert_keys.count, 3);
    assert_int_equal(f.got.insert_keys.type, KR_U32);
    assert_int_equal(f.got.delete_keys.count, 2);
    assert_memory_equal(f.got_inserts, f.inserts, 3 * sizeof(uint32_t));
    assert_memory_equal(f.got_deletes, f.deletes, 2 * sizeof(uint32_t));
    assert_null(f.got.insert_rows);
    assert_int_equal(f.got.next_row, ROWS);
    const kr_index_info after = info();
    assert_int_equal(after.next_row, ROWS + 3);
    assert_int_equal(kr_index_counter_count(f.index), 2);
    assert_string_equal(kr_index_counter_name(f.index, 1), "nodes");
    assert_int_equal(kr_index_counter_value(f.index, 0), 3);
    assert_int_equal(kr_index_counter_value(f.index, 1), 5);
    assert_null(kr_index_counter_name(f.index, 2));
    assert_int_equal(kr_index_phase_count(f.index), 2);
    assert_string_equal(kr_index_phase_name(f.index, 0), "copy");
    assert_string_equal(kr_index_phase_name(f.index, 1), "apply");
    /* Deletes alone give no ids. */
    assert_int_equal(change(0, 0, 1, NULL), KR_OK);
    assert_int_equal(f.got.insert_keys.count, 0);
    assert_int_equal(f.got.next_row, ROWS + 3);
    assert_int_equal(info().next_row, ROWS + 3);
}

static void stages_all_columns(void **state)
{
    kr_error err = {0};
    (void)state;
    create_plain();
    move_away();
    const uint64_t before = f.device->in_use_nbytes;
    f.validity[0] = 0x15;
    const kr_column inserts = {
        .type = KR_U32, .count = 3, .data = f.inserts, .validity = f.validity, .validity_offset = 2};
    const kr_column deletes = {.type = KR_U32, .count = 2, .data = f.deletes, .validity = f.validity};
    if (kr_index_update(f.index, &inserts, f.rows, &deletes, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(f.calls, 1);
    assert_memory_equal(f.got_inserts, f.inserts, 3 * sizeof(uint32_t));
    assert_memory_equal(f.got_rows, f.rows, 3 * sizeof(uint32_t));
    assert_memory_equal(f.got_deletes, f.deletes, 2 * sizeof(uint32_t));
    const void *const staged[] = {f.got.insert_keys.data,     f.got.insert_rows,
                                  f.got.delete_keys.data,     f.got.insert_keys.validity,
                                  f.got.delete_keys.validity, NULL};
    for (int i = 0; staged[i]; ++i)
        assert_int_equal(place_far(f.device, staged[i]), KR_PLACE_HERE);
    assert_non_null(staged[4]);
    assert_int_equal(f.device->in_use_nbytes, before);
}

/* next_row is above all row ids that were ever given, and never falls. */
static void keeps_count_of_row_ids(void **state)
{
    (void)state;
    create_plain();
    assert_int_equal(info().next_row, ROWS);
    assert_int_equal(change(4, 1, 0, NULL), KR_OK); /* 50, 49, 48, 47 */
    assert_memory_equal(f.got_rows, f.rows, 4 * sizeof(uint32_t));
    assert_int_equal(info().next_row, 51);
    assert_int_equal(f.index->row_limit, 51);
    f.rows[0] = 7;
    assert_int_equal(change(1, 1, 0, NULL), KR_OK);
    assert_int_equal(info().next_row, 51);
    assert_int_equal(change(2, 0, 0, NULL), KR_OK);
    assert_int_equal(f.got.next_row, 51);
    assert_int_equal(info().next_row, 53);
    assert_int_equal(f.index->row_limit, 53);
    /* A value column must still cover rows that were deleted. */
    f.left[0] = 3, f.left[1] = 17, f.n_left = 2;
    assert_int_equal(change(0, 0, 1, NULL), KR_OK);
    assert_int_equal(f.index->row_limit, 53);
    assert_int_equal(info().rows, 2);
    assert_int_equal(info().next_row, 53);
}

static void begins_behind_the_largest(void **state)
{
    static const uint32_t row_ids[3] = {9, 4, 1000};
    (void)state;
    f.validity[0] = 0x3; /* the row with the largest id is NULL */
    const kr_column keys = {.type = KR_U32, .count = 3, .data = f.inserts, .validity = f.validity};
    create(&keys, row_ids);
    assert_int_equal(info().next_row, 1001);
    assert_int_equal(f.index->row_limit, 10);
    kr_index_destroy(f.index);
    create(&keys, NULL);
    assert_int_equal(info().next_row, 3);
    assert_int_equal(info().rows, 2);
    kr_index_destroy(f.index);
    const kr_column none = {.type = KR_U32};
    create(&none, row_ids);
    assert_int_equal(info().next_row, 0);
    assert_int_equal(change(2, 0, 0, NULL), KR_OK);
    assert_int_equal(f.got.next_row, 0);
    assert_int_equal(info().next_row, 2);
}

static void refuses_no_row(void **state)
{
    kr_error err = {0};
    (void)state;
    create_plain();
    const kr_index_info before = info();
    f.rows[2] = KR_NO_ROW;
    assert_int_equal(change(3, 1, 1, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "KR_NO_ROW"));
    assert_int_equal(f.calls, 0);
    expect_kept(&before, ROWS);
    assert_int_equal(change(2, 1, 1, NULL), KR_OK);
}

static void ends_at_the_highest_row_id(void **state)
{
    static const uint32_t row_ids[2] = {5, KR_NO_ROW - 3};
    kr_error err = {0};
    (void)state;
    const kr_column keys = {.type = KR_U32, .count = 2, .data = first_keys};
    create(&keys, row_ids);
    assert_int_equal(info().next_row, KR_NO_ROW - 2);
    assert_int_equal(change(3, 0, 0, &err), KR_ERR_LIMIT);
    assert_non_null(strstr(err.text, "3 rows from row id 4294967293 on"));
    assert_int_equal(f.calls, 0);
    assert_int_equal(change(2, 0, 0, NULL), KR_OK);
    assert_int_equal(f.got.next_row, KR_NO_ROW - 2);
    assert_int_equal(info().next_row, KR_NO_ROW);
    assert_int_equal(change(1, 0, 0, NULL), KR_ERR_LIMIT);
    assert_int_equal(change(0, 0, 1, NULL), KR_OK);
    assert_int_equal(change(1, 1, 0, NULL), KR_OK);
    assert_int_equal(info().next_row, KR_NO_ROW);
}

static void refuses_too_many_rows(void **state)
{
    kr_error err = {0};
    (void)state;
    create_plain();
    const uint64_t counts[] = {KR_NO_ROW - ROWS, KR_NO_ROW, UINT64_MAX / 32};
    for (int i = 0; i < 3; ++i) { /* nothing is read */
        assert_int_equal(change(counts[i], 1, 0, &err), KR_ERR_LIMIT);
        assert_non_null(strstr(err.text, "6 rows and "));
        assert_non_null(strstr(err.text, "4294967294"));
    }
    assert_int_equal(f.calls, 0);
}

/* Without rows the kind only checks whether it can update, and nothing is reported again. */
static void does_nothing_without_rows(void **state)
{
    const kr_column none = {.type = KR_U32};
    kr_error err = {0};
    (void)state;
    create_plain();
    const kr_index_info before = info();
    assert_int_equal(kr_index_update(f.index, NULL, NULL, NULL, NULL, NULL), KR_OK);
    assert_int_equal(kr_index_update(f.index, &none, f.rows, &none, NULL, NULL), KR_OK);
    assert_int_equal(f.got.insert_keys.count + f.got.delete_keys.count, 0);
    assert_int_equal(f.got.insert_keys.type, KR_U32);
    assert_int_equal(f.got.delete_keys.type, KR_U32);
    expect_kept(&before, ROWS);
    f.answer = KR_ERR_UNSUPPORTED;
    assert_int_equal(kr_index_update(f.index, NULL, NULL, NULL, NULL, &err), KR_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "made up");
}

static void keeps_what_was_on_failure(void **state)
{
    kr_error err = {0};
    (void)state;
    create_plain();
    const kr_index_info before = info();
    const uint64_t in_use = f.device->in_use_nbytes;
    f.answer = KR_ERR_LIMIT;
    assert_int_equal(change(3, 1, 2, &err), KR_ERR_LIMIT);
    assert_string_equal(err.text, "made up");
    expect_kept(&before, ROWS);
    f.device->options.memory_cap_nbytes = in_use; /* the counter no longer fits */
    f.answer = KR_OK;
    assert_int_equal(change(3, 1, 2, &err), KR_ERR_DEVICE_MEMORY);
    assert_int_equal(f.calls, 1);
    expect_kept(&before, ROWS);
    assert_int_equal(f.device->in_use_nbytes, in_use);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hands_over),
        TEST(stages_all_columns),
        TEST(keeps_count_of_row_ids),
        TEST(begins_behind_the_largest),
        TEST(refuses_no_row),
        TEST(ends_at_the_highest_row_id),
        TEST(refuses_too_many_rows),
        TEST(does_nothing_without_rows),
        TEST(keeps_what_was_on_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
