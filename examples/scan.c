/* Rows of a table for which a condition is true, and a sum over them; then rows are appended and deleted.
 *
 *     cc scan.c $(pkg-config --cflags --libs keyray) && ./a.out                                         */
#include <keyray/keyray.h>
#include <stdio.h>

static int fail(const kr_error *err)
{
    fprintf(stderr, "%s: %s\n", kr_status_name(err->status), err->text);
    return 1;
}

int main(void)
{
    const uint32_t quantity[] = {17, 36, 8, 28, 24, 32};
    const double price[] = {21.5, 45.0, 13.25, 28.75, 22.0, 49.5};
    const uint8_t known = 0x3B; /* the price of row 2 is NULL */
    const kr_column columns[] = {{.type = KR_U32, .count = 6, .data = quantity},
                                 {.type = KR_F64, .count = 6, .data = price, .validity = &known}};
    const char *const names[] = {"quantity", "price"};
    kr_device *device = NULL;
    kr_table *table = NULL;
    kr_condition *condition = NULL;
    kr_error err = {0};

    if (kr_device_open("auto", NULL, &device, &err) ||
        kr_table_create(device, "best", columns, names, 2, NULL, NULL, &table, &err) ||
        kr_condition_parse("quantity between 8 and 30 and not price > 25", &condition, &err))
        return fail(&err);

    /* Two results of one condition, in one call. */
    uint64_t n = 0;
    uint32_t rows[6];
    double sum = 0;
    const kr_scan_sink list = {
        .struct_size = sizeof list, .result = KR_SCAN_ROWS, .out = &n, .rows = rows, .rows_capacity = 6};
    const kr_scan_sink total = {.struct_size = sizeof total, .result = KR_SCAN_SUM, .column = 1, .out = &sum};
    const kr_scan_sink *sinks[] = {&list, &total};
    const kr_condition *conditions[] = {condition, condition};
    if (kr_scan(table, conditions, sinks, 2, NULL, NULL, &err))
        return fail(&err);
    for (uint64_t i = 0; i < n; ++i)
        printf("row %u\n", rows[i]); /* 0 and 4: NULL > 25 is unknown, and so is NOT of it */
    printf("sum of prices %.2f\n", sum);

    /* Append rows 6 and 7, delete row 4. From here on the table no longer needs the arrays above. */
    const uint32_t more_quantity[] = {9, 70}, gone[] = {4};
    const double more_price[] = {24.0, 95.5};
    const kr_column more[] = {{.type = KR_U32, .count = 2, .data = more_quantity},
                              {.type = KR_F64, .count = 2, .data = more_price}};
    uint64_t n_after = 0;
    const kr_scan_sink count = {.struct_size = sizeof count, .result = KR_SCAN_COUNT, .out = &n_after};
    const kr_scan_sink *one[] = {&count};
    if (kr_table_append(table, more, 2, NULL, &err) || kr_table_delete(table, gone, 1, NULL, NULL, &err) ||
        kr_scan(table, conditions, one, 1, NULL, NULL, &err))
        return fail(&err);
    printf("%u rows after the changes\n", (unsigned)n_after); /* 0 and 6 */

    kr_condition_destroy(condition);
    kr_table_destroy(table);
    kr_device_close(device);
    return !(n == 2 && rows[0] == 0 && rows[1] == 4 && sum == 43.5 && n_after == 2);
}
