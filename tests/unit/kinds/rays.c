/* What the library does for kinds that cast rays or change keys, on an index of kind `array` with wrapped
 * operations: counters reach the report on every path; kr_index_set_keys checks, calls the kind and
 * reports. */
#include "api/report.h"
#include "index/kinds/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 9000, PROBES = 70000 };

typedef struct fixture {
    kr_device *device;
    kr_index *index;
    const kr_family_ops *real;
    kr_family_ops ops;
    kr_kind kind;
    kr_device_ops far; /* of a device that does not reach this struct */
    const kr_device_ops *device_ops;
    uint64_t out[PROBES + 1];
    uint32_t rows[PROBES];
    uint32_t keys[ROWS], probes[PROBES];
    uint32_t changes;      /* calls of set_keys */
    kr_status answer;      /* of set_keys */
    uint32_t changed_rows; /* sum of the row ids it got */
    uint64_t changed_keys; /* sum of the keys it got */
} fixture;

static fixture f; /* operations have no place for one of their own */

/* Two rays per probe and three hits, one of them filtered; every fifth probe is repaired, every seventh
 * untraced. */
static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    for (uint64_t i = 0; i < job->n; ++i) {
        const uint64_t probe = job->put.order ? job->put.order[i] : i;
        kr_put_work_add(&job->put, i, KR_WORK_RAYS, 2);
        kr_put_work_add(&job->put, i, KR_WORK_HITS, 3);
        kr_put_work_add(&job->put, i, KR_WORK_FILTERED, 1);
        kr_put_work_add(&job->put, i, KR_WORK_REPAIRED, probe % 5 == 0);
        kr_put_work_add(&job->put, i, KR_WORK_UNTRACED, probe % 7 == 0);
    }
    f.real->locate(w, self, job);
}

static double rays(const kr_shape *shape)
{
    (void)shape;
    return 2;
}

static void tracer(kr_device *device, char text[64])
{
    snprintf(text, 64, "made up on %s", device->name);
}

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const uint32_t n = f.real->components(self, components);
    if (f.changes)
        components[n] = (kr_component){"more", 100};
    return f.changes ? n + 1 : n;
}

static void set_keys(kr_work *w, void *self, const kr_set_keys *job)
{
    (void)self;
    if (f.answer)
        KR_STEP(w, kr_fail(w->err, f.answer, "made up"));
    if (!kr_work_goes_on(w))
        return;
    f.changes++;
    for (uint64_t i = 0; i < job->keys.count; ++i) {
        f.changed_rows += job->row_ids[i];
        f.changed_keys += ((const uint32_t *)job->keys.data)[i];
    }
    kr_work_lap(w, "refit");
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

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    for (uint32_t i = 0; i < ROWS; ++i)
        f.keys[i] = i * 3;
    for (uint32_t i = 0; i < PROBES; ++i)
        f.probes[i] = i * 2654435761u % (ROWS * 3);
    const kr_column keys = {.type = KR_U32, .count = ROWS, .data = f.keys};
    if (kr_device_open("cpu", NULL, &f.device, NULL) ||
        kr_index_create(f.device, "array", &keys, NULL, NULL, &f.index, NULL))
        return 1;
    f.real = f.index->ops;
    f.ops = *f.real;
    f.ops.locate = locate;
    f.ops.rays = rays;
    f.ops.tracer = tracer;
    f.ops.components = components;
    f.ops.set_keys = set_keys;
    f.kind = *f.index->spec.kind;
    f.kind.capabilities |= KR_CAN_SET_KEYS;
    f.index->ops = &f.ops;
    f.index->spec.kind = &f.kind;
    return 0;
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

/* ---- Counters ------------------------------------------------------------------------------ */

static void look_up(kr_result result, uint64_t n, int is_range, uint32_t count_work, kr_report *report)
{
    const kr_column probes = {.type = KR_U32, .count = n, .data = f.probes};
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = result,
                          .out = f.out,
                          .rows = f.rows,
                          .rows_capacity = PROBES,
                          .report = report,
                          .count_work = count_work};
    kr_error err = {0};
    if (is_range ? kr_index_range(f.index, &probes, &probes, &sink, NULL, &err)
                 : kr_index_lookup(f.index, &probes, &sink, NULL, &err))
        fail_msg("result %d: %s", (int)result, err.text);
}

static void check_counts(const kr_report *report, uint64_t n)
{
    assert_int_equal(report->probes, n);
    assert_int_equal(report->counters[KR_WORK_RAYS], 2 * n);
    assert_int_equal(report->counters[KR_WORK_HITS], 3 * n);
    assert_int_equal(report->counters[KR_WORK_FILTERED], n);
    assert_int_equal(report->counters[KR_WORK_REPAIRED], (n + 4) / 5);
    assert_int_equal(report->counters[KR_WORK_UNTRACED], (n + 6) / 7);
}

static void check_all_paths(void)
{
    static const kr_result results[] = {KR_RESULT_ROW, KR_RESULT_COUNT, KR_RESULT_SUM_ROWS, KR_RESULT_ROWS,
                                        KR_RESULT_EXISTS};
    static const uint64_t counts[] = {0, 1, 4097, PROBES};
    static const int64_t orders[] = {KR_PROBES_AS_IS, KR_PROBES_SORTED};
    kr_report report = {0};
    for (int o = 0; o < 2; ++o)
        for (int r = 0; r < 5; ++r)
            for (int c = 0; c < 4; ++c)
                for (int is_range = 0; is_range < 2; ++is_range) {
                    f.index->spec.common[KR_COMMON_PROBES] = orders[o];
                    look_up(results[r], counts[c], is_range, 1, &report);
                    check_counts(&report, counts[c]);
                }
}

static void counts_work(void **state)
{
    (void)state;
    check_all_paths();
}

/* ROWS finds its matches twice there, and counts them once. */
static void counts_staged_work(void **state)
{
    (void)state;
    move_away();
    check_all_paths();
}

static void counts_only_when_asked(void **state)
{
    kr_report report = {0};
    (void)state;
    look_up(KR_RESULT_ROW, 100, 0, 0, &report);
    assert_true(report.counters[KR_WORK_RAYS] == 0 && report.counters[KR_WORK_HITS] == 0 &&
                report.counters[KR_WORK_FILTERED] == 0 && report.counters[KR_WORK_REPAIRED] == 0 &&
                report.counters[KR_WORK_UNTRACED] == 0);
    look_up(KR_RESULT_ROW, 100, 0, 1, NULL);
    f.ops.rays = NULL; /* a kind that casts none */
    look_up(KR_RESULT_ROW, 100, 0, 1, &report);
    assert_int_equal(kr_report_counter_count(&report), 0);
}

static void gives_counters_back(void **state)
{
    kr_report report = {0};
    kr_device_info before = {.struct_size = sizeof before}, after = before;
    (void)state;
    assert_int_equal(kr_device_query(f.device, &before, NULL), KR_OK);
    look_up(KR_RESULT_ROWS, PROBES, 1, 1, &report);
    assert_int_equal(kr_device_query(f.device, &after, NULL), KR_OK);
    assert_int_equal(after.in_use_nbytes, before.in_use_nbytes);
}

static void refuses_sinks(void **state)
{
    uint32_t rows[4];
    const kr_column probes = {.type = KR_U32, .count = 4, .data = f.probes};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows, .count_work = 2};
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_index_lookup(f.index, &probes, &sink, NULL, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "count_work must be 0 or 1"));
    sink.count_work = 0;
    sink.reserved = 1;
    assert_int_equal(kr_index_lookup(f.index, &probes, &sink, NULL, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "reserved must be 0"));
}

/* ---- kr_index_set_keys --------------------------------------------------------------------- */

static kr_status change(uint64_t n, const uint8_t *validity, uint64_t offset, kr_error *err)
{
    static const uint32_t row_ids[4] = {7, 2, 8999, 5}, new_keys[4] = {1, 10, 100, 1000};
    const kr_column keys = {
        .type = KR_U32, .count = n, .data = new_keys, .validity = validity, .validity_offset = offset};
    return kr_index_set_keys(f.index, row_ids, &keys, NULL, err);
}

static void changes_and_reports(void **state)
{
    kr_index_info before = {.struct_size = sizeof before}, after = before;
    kr_error err = {0};
    (void)state;
    const uint32_t components_before = kr_index_component_count(f.index);
    assert_int_equal(kr_index_query(f.index, &before, NULL), KR_OK);
    if (change(4, NULL, 0, &err))
        fail_msg("%s", err.text);
    assert_int_equal(kr_index_query(f.index, &after, NULL), KR_OK);
    assert_int_equal(f.changes, 1);
    assert_int_equal(f.changed_rows, 7 + 2 + 8999 + 5);
    assert_int_equal(f.changed_keys, 1111);
    assert_int_equal(after.rows, before.rows);
    assert_int_equal(after.footprint_nbytes, before.footprint_nbytes + 100);
    assert_int_equal(kr_index_component_count(f.index), components_before + 1);
    assert_int_equal(kr_index_component_nbytes(f.index, components_before), 100);
    assert_null(kr_index_component_name(f.index, components_before + 1));
    assert_true(after.peak_nbytes >= before.footprint_nbytes);
    assert_int_equal(kr_index_phase_count(f.index), 2);
    assert_string_equal(kr_index_phase_name(f.index, 0), "copy");
    assert_string_equal(kr_index_phase_name(f.index, 1), "refit");
    assert_true(kr_index_phase_seconds(f.index, 1) >= 0 && kr_index_phase_seconds(f.index, 2) == 0);
    assert_string_equal(after.tracer, "made up on cpu");
    assert_string_equal(after.spec, before.spec);
}

static void changes_nothing(void **state)
{
    kr_error err = {0};
    (void)state;
    assert_int_equal(change(0, NULL, 0, &err), KR_OK);
    assert_int_equal(f.changes, 0);
}

static void refuses_null_keys(void **state)
{
    static const uint8_t third_is_null[] = {0xBF}, all[] = {0x0F};
    kr_error err = {0};
    (void)state;
    assert_int_equal(change(4, third_is_null, 4, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "key 2 is NULL"));
    assert_int_equal(f.changes, 0);
    assert_int_equal(change(2, third_is_null, 4, &err), KR_OK);
    assert_int_equal(change(4, all, 0, &err), KR_OK);
    assert_int_equal(f.changes, 2);
}

static void keeps_what_was_on_failure(void **state)
{
    kr_index_info before = {.struct_size = sizeof before}, after = before;
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_index_query(f.index, &before, NULL), KR_OK);
    f.answer = KR_ERR_LIMIT;
    assert_int_equal(change(4, NULL, 0, &err), KR_ERR_LIMIT);
    assert_string_equal(err.text, "made up");
    assert_int_equal(kr_index_query(f.index, &after, NULL), KR_OK);
    assert_memory_equal(&before, &after, sizeof before);
}

static void refuses_too_many_keys(void **state)
{
    static const uint32_t ids[ROWS + 1];
    const kr_column keys = {.type = KR_U32, .count = ROWS + 1, .data = ids};
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_index_set_keys(f.index, ids, &keys, NULL, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "9001 keys for an index of 9000 rows"));
    assert_int_equal(f.changes, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counts_work),           TEST(counts_staged_work), TEST(counts_only_when_asked),
        TEST(gives_counters_back),   TEST(refuses_sinks),      TEST(changes_and_reports),
        TEST(changes_nothing),       TEST(refuses_null_keys),  TEST(keeps_what_was_on_failure),
        TEST(refuses_too_many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
