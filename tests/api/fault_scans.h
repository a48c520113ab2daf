/* The scans of memory_faults.c, and the checksum of all of its answers. */
#ifndef KEYRAY_TESTS_FAULT_SCANS_H
#define KEYRAY_TESTS_FAULT_SCANS_H

#include "fault_saved.h"

#include <unistd.h>

/* Over all answers since it was last 0. */
static uint64_t checksum;

static void add_to_checksum(const void *data, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; ++i)
        checksum = (checksum ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
}

/* Conditions that take every path: folded, in one pass, taken apart, long lists. */
static const char *const conditions[] = {
    "", "a < 5", "a < 5 and b > 3 or not (a between 10 and 20)", "a in (1, 2, 3, 5, 8, 13) and b not in (4)",
    "a = 1 or b = 1 and (a = 2 or b = 2 and (a = 3 or b = 3 and (a = 4 or b = 4 and (a = 5 or b"
    " = 5 and (a = 6 or b = 6 and (a = 7 or b = 7 and (a = 8 or b = 8 and (a = 9 or b = 9 and ("
    "a = 10 or b = 10 and (a = 11 or b = 11 and (a = 12 or b = 12 and (a = 13 or b = 13 and (a "
    "= 14 or b = 14 and (a = 15 or b = 15 and (a = 16 or b = 16 and (a = 17 or b = 17 and (a = "
    "18 or b = 18)))))))))))))))))"};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* The first n conditions. */
static kr_status scan_some(kr_table *table, kr_condition *const *parsed, uint32_t n, kr_report *report,
                           kr_error *err)
{
    uint64_t counts[CONDITIONS] = {0}, n_rows = 0, wide[2] = {0};
    uint32_t found[3 * 300] = {0};
    kr_scan_sink sinks[CONDITIONS];
    const kr_scan_sink *pointers[CONDITIONS];
    const kr_scan_options options = {.struct_size = sizeof options, .report = report, .count_work = 1};
    for (uint32_t i = 0; i < CONDITIONS; ++i) {
        sinks[i] = (kr_scan_sink){.struct_size = sizeof *sinks, .result = KR_SCAN_COUNT, .out = &counts[i]};
        pointers[i] = &sinks[i];
    }
    sinks[1].result = KR_SCAN_SUM;
    sinks[2].result = KR_SCAN_SUM_WIDE;
    sinks[2].column = 1;
    sinks[2].out = wide;
    sinks[3].result = KR_SCAN_ROWS;
    sinks[3].out = &n_rows;
    sinks[3].rows = found;
    sinks[3].rows_capacity = 3 * 300;
    const kr_status status =
        kr_scan(table, (const kr_condition *const *)parsed, pointers, n, &options, NULL, err);
    add_to_checksum(counts, sizeof counts);
    add_to_checksum(wide, sizeof wide);
    add_to_checksum(found, sizeof found);
    return status;
}

static kr_status scan_all(kr_table *table, kr_condition *const *parsed, kr_report *report, kr_error *err)
{
    return scan_some(table, parsed, CONDITIONS, report, err);
}

/* The bits of the floats as integers, which have wide sums. */
static kr_column as_integers(const kr_column *floats)
{
    kr_column column = *floats;
    column.type = KR_I32;
    return column;
}

/* A change that fails changes nothing. */
static kr_status change_once(kr_table *table, int change, const kr_column *column,
                             const kr_condition *condition, kr_error *err)
{
    const uint32_t rows[] = {0, 7, (uint32_t)column->count + 3, 7};
    const kr_column more[] = {*column, as_integers(column)};
    kr_table_info before = {.struct_size = sizeof before}, after = before;
    kr_table *next = NULL;
    kr_status status = kr_table_validate(table, err); /* which builds scenes that versions share */
    CHECK(kr_table_query(table, &before, NULL) == KR_OK);
    if (status)
        return status;
    status = change % 3 == 0   ? kr_table_next_append(table, more, 2, NULL, &next, err)
             : change % 3 == 1 ? kr_table_next_delete(table, rows, 4, NULL, NULL, &next, err)
                               : kr_table_next_delete_where(table, condition, NULL, NULL, &next, err);
    CHECK(!next == (status != KR_OK));
    if (!status)
        status = kr_table_validate(next, err);
    kr_table_destroy(next);
    if (!status)
        status = change % 3 == 0   ? kr_table_append(table, more, 2, NULL, err)
                 : change % 3 == 1 ? kr_table_delete(table, rows, 4, NULL, NULL, err)
                                   : kr_table_delete_where(table, condition, NULL, NULL, err);
    if (status) {
        CHECK(kr_table_query(table, &after, NULL) == KR_OK && kr_table_validate(table, NULL) == KR_OK);
        CHECK(after.rows == before.rows && after.alive_rows == before.alive_rows &&
              after.footprint_nbytes == before.footprint_nbytes);
    }
    return status;
}

static kr_status change_table(kr_table *table, const kr_column *column, const kr_condition *condition,
                              kr_error *err)
{
    kr_status status = KR_OK;
    for (int change = 0; change < 4 && !status; ++change)
        status = change_once(table, change, column, condition, err);
    return status;
}

static kr_status scan_table(kr_table *table, const kr_column *column, kr_condition *const *parsed,
                            kr_report *report, kr_error *err)
{
    kr_status status = scan_all(table, parsed, report, err);
    if (!status)
        status = change_table(table, column, parsed[1], err);
    return status ? status : scan_all(table, parsed, report, err);
}

/* From memory, and from a file that is mapped, whose columns an append copies. Scans and other changes
 * allocate as those of tables that were made here. */
static kr_status save_table(kr_table *table, kr_device *device, const kr_column *column,
                            kr_condition *const *parsed, kr_stream *stream, kr_report *report, kr_error *err)
{
    char path[64];
    uint64_t nbytes = 0;
    kr_table *loaded = NULL;
    snprintf(path, sizeof path, "memory-faults-%ld.krx", (long)getpid());
    kr_status status = save_to_memory(NULL, table, &nbytes, err);
    if (!status)
        status = load_saved(device, NULL, nbytes, stream, NULL, &loaded, err);
    if (!status)
        status = scan_some(loaded, parsed, 2, report, err);
    kr_table_destroy(loaded);
    loaded = NULL;
    if (!status)
        status = kr_table_save(table, path, NULL, NULL, err);
    if (!status)
        status = load_saved(device, path, 0, stream, NULL, &loaded, err);
    if (!status)
        status = change_once(loaded, 0, column, NULL, err);
    if (!status)
        status = scan_some(loaded, parsed, 2, report, err);
    kr_table_destroy(loaded);
    remove(path);
    return status;
}

/* `column` has at most 300 rows. */
static kr_status use_table(kr_device *device, const char *spec, const kr_column *column, int saves,
                           kr_stream *stream, kr_error *err)
{
    static const char *const names[] = {"a", "b"};
    const kr_column columns[] = {*column, as_integers(column)};
    const kr_table_options copies = {.struct_size = sizeof copies, .copy = KR_COPY_ALWAYS};
    kr_condition *parsed[CONDITIONS] = {NULL};
    kr_table *table = NULL;
    kr_report *report = NULL;
    const uint32_t n = saves ? 2 : CONDITIONS;
    kr_status status = kr_report_create(&report, err);
    for (uint32_t i = 0; i < n && !status; ++i)
        status = kr_condition_parse(conditions[i], &parsed[i], err);
    if (!status)
        status = kr_table_create(device, spec, columns, names, 2, &copies, stream, &table, err);
    if (!status)
        status = saves ? save_table(table, device, column, parsed, stream, report, err)
                       : scan_table(table, column, parsed, report, err);
    kr_table_destroy(table);
    for (uint32_t i = 0; i < CONDITIONS; ++i)
        kr_condition_destroy(parsed[i]);
    kr_report_destroy(report);
    return status;
}

#endif
