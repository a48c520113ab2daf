/* A report tells what was done with the probes, not what was planned for the batch: batches in host memory
 * are cut into pieces, and each piece has its own plan. The index is on the CPU, but its device claims not to
 * reach host memory, like a GPU. */
#include "index/kinds/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1 << 18, PROBES = (1 << 22) + 5 };

static kr_place place_far(kr_device *device, const void *pointer)
{
    (void)device, (void)pointer;
    return KR_PLACE_HOST;
}

static uint32_t keys[ROWS], probes[PROBES], rows[PROBES];

static void look_up(const char *spec, kr_result result, void *out, uint32_t *row_ids, kr_report *report)
{
    const kr_column column = {.type = KR_U32, .count = ROWS, .data = keys};
    const kr_column batch = {.type = KR_U32, .count = PROBES, .data = probes};
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = result,
                          .out = out,
                          .rows = row_ids,
                          .rows_capacity = PROBES,
                          .report = report};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    assert_int_equal(kr_index_create(device, spec, &column, NULL, NULL, &index, NULL), KR_OK);
    const kr_device_ops *near = device->ops;
    kr_device_ops far = *near;
    far.is_host = 0;
    far.place = place_far;
    device->ops = &far;
    const kr_status status = kr_index_lookup(index, &batch, &sink, NULL, &err);
    device->ops = near;
    if (status != KR_OK)
        fail_msg("%s", err.text);
    /* Noted while the device was far, of streams that are gone; a host device notes none. */
    for (uint32_t i = 0; i < index->users.n; ++i)
        free(index->users.lanes[i]);
    free(index->users.lanes);
    index->users = (kr_users){0};
    kr_index_destroy(index);
    kr_device_close(device);
}

static int set_up(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ROWS; ++i)
        keys[i] = 3 * i;
    for (uint32_t i = 0; i < PROBES; ++i)
        probes[i] = 3 * (i * 2654435761u % ROWS);
    return 0;
}

static void check_rows(void)
{
    for (uint32_t i = 0; i < PROBES; ++i)
        if (rows[i] != probes[i] / 3)
            fail_msg("probe %u: row %u", i, rows[i]);
}

/* One or two orders, and how many probes each. */
static void assert_orders(const kr_report *report, const char *one, uint64_t n, const char *two,
                          uint64_t others)
{
    assert_string_equal(kr_report_order_name(report, 0), one);
    assert_int_equal(kr_report_order_probes(report, 0), n);
    assert_int_equal(kr_report_order_count(report), two ? 2 : 1);
    if (two)
        assert_string_equal(kr_report_order_name(report, 1), two);
    assert_int_equal(kr_report_order_probes(report, 1), others);
}

/* Pieces of 2^22 probes: the last one is too small to pay. */
static void names_every_way(void **unused)
{
    kr_report *report = NULL;
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    (void)unused;
    look_up("array", KR_RESULT_ROW, rows, NULL, report);
    check_rows();
    assert_orders(report, "partitioned", PROBES - 5, "as-is", 5);
    kr_report_destroy(report);
}

/* ROWS goes over the probes twice, in pieces of 2^20, which `pivot` does not find large enough. */
static void follows_the_pieces(void **unused)
{
    uint64_t *offsets = malloc((PROBES + 1) * sizeof *offsets);
    kr_report *report = NULL;
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    (void)unused;
    assert_non_null(offsets);
    look_up("pivot", KR_RESULT_ROWS, offsets, rows, report);
    check_rows();
    assert_orders(report, "as-is", PROBES, NULL, 0);
    look_up("array", KR_RESULT_ROWS, offsets, rows, report);
    check_rows();
    assert_orders(report, "partitioned", PROBES - 5, "as-is", 5);
    kr_report_destroy(report);
    free(offsets);
}

/* On a CPU a large index gets its probes sorted by leading bits, which is not partitioning. */
static void names_sorting(void **unused)
{
    enum { KEYS = 1 << 21 };
    uint32_t *column_keys = malloc(KEYS * sizeof *column_keys), *found = malloc(KEYS * sizeof *found);
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = column_keys};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = found};
    kr_sink with_report = sink;
    kr_device *cpu = NULL;
    kr_index *index = NULL;
    (void)unused;
    assert_true(column_keys && found);
    for (uint32_t i = 0; i < KEYS; ++i)
        column_keys[i] = i * 2654435761u;
    assert_int_equal(kr_report_create(&with_report.report, NULL), KR_OK);
    assert_int_equal(kr_device_open("cpu", NULL, &cpu, NULL), KR_OK);
    assert_int_equal(kr_index_create(cpu, "array", &column, NULL, NULL, &index, NULL), KR_OK);
    assert_int_equal(kr_index_lookup(index, &column, &with_report, NULL, NULL), KR_OK);
    assert_orders(with_report.report, "sorted", KEYS, NULL, 0);
    for (uint32_t i = 0; i < KEYS; ++i)
        assert_int_equal(found[i], i);
    kr_index_destroy(index);
    kr_device_close(cpu);
    kr_report_destroy(with_report.report);
    free(found);
    free(column_keys);
}

static void names_what_was_asked_for(void **unused)
{
    kr_report *report = NULL;
    assert_int_equal(kr_report_create(&report, NULL), KR_OK);
    (void)unused;
    look_up("array:probes=sorted", KR_RESULT_ROW, rows, NULL, report);
    check_rows();
    assert_orders(report, "sorted", PROBES, NULL, 0);
    kr_report_destroy(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_every_way),
        cmocka_unit_test(follows_the_pieces),
        cmocka_unit_test(names_sorting),
        cmocka_unit_test(names_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
