/* Point and range lookups, with every kind of result.
 *
 * One index answers all of them: the sink of each call says what is wanted. */
#include <keyray/keyray.h>
#include <stdio.h>
#include <string.h>

enum { SALES = 8, POINTS = 4, RANGES = 2 };

/* Prices of eight sales; the price of sale 5 is NULL (bit 5 is 0), so no lookup finds that row. */
static const int32_t prices[SALES] = {20, 35, 20, 50, 35, 0, 20, 90};
static const uint8_t price_known[1] = {0xDF};
/* A value of each row, to be summed. */
static const uint32_t pieces[SALES] = {3, 1, 4, 1, 5, 9, 2, 6};

static const int32_t wanted[POINTS] = {20, 35, 0, 90};
/* 20 .. 40, and 60 .. 50, which is empty: bounds are inclusive, and lower > upper is not an error. */
static const int32_t lower[RANGES] = {20, 60}, upper[RANGES] = {40, 50};

static const kr_column keys = {.type = KR_I32, .count = SALES, .data = prices, .validity = price_known};
static const kr_column values = {.type = KR_U32, .count = SALES, .data = pieces};
static const kr_column probes = {.type = KR_I32, .count = POINTS, .data = wanted};
static const kr_column from = {.type = KR_I32, .count = RANGES, .data = lower};
static const kr_column to = {.type = KR_I32, .count = RANGES, .data = upper};

/* Says which answer is wrong. */
static int differs(const char *what, const void *got, const void *right, size_t nbytes)
{
    const int wrong = memcmp(got, right, nbytes) != 0;
    printf("%-40s %s\n", what, wrong ? "WRONG" : "as expected");
    return wrong;
}

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

/* One number per probe, in the order of the probes. */
static int answers_per_probe(kr_index *index)
{
    kr_error err = {0};
    uint32_t row[POINTS];
    uint64_t number[POINTS];
    uint8_t exists[1];
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = row};
    if (failed(kr_index_lookup(index, &probes, &sink, NULL, &err), &err))
        return 1;
    int wrong =
        differs("ROW: the smallest row, or KR_NO_ROW", row, (uint32_t[]){0, 1, KR_NO_ROW, 7}, sizeof row);

    sink.result = KR_RESULT_COUNT;
    sink.out = number;
    if (failed(kr_index_lookup(index, &probes, &sink, NULL, &err), &err))
        return 1;
    wrong += differs("COUNT: how many rows", number, (uint64_t[]){3, 2, 0, 1}, sizeof number);

    sink.result = KR_RESULT_SUM_ROWS;
    if (failed(kr_index_lookup(index, &probes, &sink, NULL, &err), &err))
        return 1;
    wrong += differs("SUM_ROWS: the sum of the row ids", number, (uint64_t[]){0 + 2 + 6, 1 + 4, 0, 7},
                     sizeof number);

    sink.result = KR_RESULT_EXISTS;
    sink.out = exists;
    if (failed(kr_index_lookup(index, &probes, &sink, NULL, &err), &err))
        return 1;
    return wrong + differs("EXISTS: one bit per probe", exists, (uint8_t[]){0x0B}, sizeof exists);
}

/* Aggregates of another column over the rows that match. */
static int answers_of_values(kr_index *index)
{
    kr_error err = {0};
    uint64_t sum[POINTS];
    uint32_t most[POINTS];
    uint8_t valid[1];
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_SUM, .values = &values, .out = sum};
    if (failed(kr_index_lookup(index, &probes, &sink, NULL, &err), &err))
        return 1;
    int wrong = differs("SUM: of the pieces sold at that price", sum, (uint64_t[]){3 + 4 + 2, 1 + 5, 0, 6},
                        sizeof sum);

    /* MIN and MAX have the type of the values. A probe without a match has none: its bit in `valid` is 0. */
    sink.result = KR_RESULT_MAX;
    sink.out = most;
    sink.valid = valid;
    if (failed(kr_index_lookup(index, &probes, &sink, NULL, &err), &err))
        return 1;
    wrong += differs("MAX: and which probes have one", valid, (uint8_t[]){0x0B}, sizeof valid);
    return wrong + differs("MAX: of the pieces", most, (uint32_t[]){4, 5, most[2], 6}, sizeof most);
}

/* All matching rows: offsets into one array, as Arrow lays out lists. */
static int answers_with_all_rows(kr_index *index)
{
    kr_error err = {0};
    uint64_t offsets[RANGES + 1];
    uint32_t rows[SALES];
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROWS, .out = offsets};
    /* Without `rows` the call only counts; offsets[RANGES] is then the room that is needed. */
    if (failed(kr_index_range(index, &from, &to, &sink, NULL, &err), &err) || offsets[RANGES] > SALES)
        return 1;
    sink.rows = rows;
    sink.rows_capacity = SALES;
    if (failed(kr_index_range(index, &from, &to, &sink, NULL, &err), &err))
        return 1;
    int wrong = differs("ROWS of a range: offsets", offsets, (uint64_t[]){0, 5, 5}, sizeof offsets);
    wrong += differs("ROWS of a range: ascending rows", rows, (uint32_t[]){0, 1, 2, 4, 6}, 5 * sizeof *rows);

    /* In the order of the scan, by (key, row): this saves sorting the rows of a wide range. */
    sink.order = KR_ORDER_KEY;
    if (failed(kr_index_range(index, &from, &to, &sink, NULL, &err), &err))
        return 1;
    return wrong +
           differs("ROWS of a range: in key order", rows, (uint32_t[]){0, 2, 6, 1, 4}, 5 * sizeof *rows);
}

int main(void)
{
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    int wrong = failed(kr_device_open("auto", NULL, &device, &err), &err) ||
                failed(kr_index_create(device, "best", &keys, NULL, NULL, &index, &err), &err);
    if (!wrong)
        wrong = answers_per_probe(index) + answers_of_values(index) + answers_with_all_rows(index);
    kr_index_destroy(index);
    kr_device_close(device);
    return wrong != 0;
}
