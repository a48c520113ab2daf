/* Sums of 128 bits: lookups and scans over values at both ends of their types, where 64 bits wrap. */
#include "check.h"
#include "device_name.h"

enum { KEYS = 150000, LARGE = 7, PROBES = 40000, COLUMNS = 5 };

__extension__ typedef __int128 wide;

static kr_device *device;
static uint32_t keys[KEYS], lower[PROBES], upper[PROBES];
static uint64_t values[KEYS]; /* as u64, and as i64 and timestamps */
static int32_t dates[KEYS];
static uint8_t validity[KEYS / 8 + 1];
static kr_column value_columns[4] = {
    {.type = KR_U64, .count = KEYS, .data = values},
    {.type = KR_I64, .count = KEYS, .data = values, .validity = validity},
    {.type = KR_TIMESTAMP64, .count = KEYS, .data = values},
    {.type = KR_DATE32, .count = KEYS, .data = dates},
};

static wide value_at(const kr_column *column, uint64_t row)
{
    if (column->validity && !(column->validity[row / 8] >> row % 8 & 1))
        return 0;
    switch (column->type) {
    case KR_U64: return ((const uint64_t *)column->data)[row];
    case KR_DATE32: return ((const int32_t *)column->data)[row];
    default: return ((const int64_t *)column->data)[row];
    }
}

/* Key k < LARGE has a seventh of half of the rows, as the first half of all rows goes round; of the others
 * each has one. */
static void make_columns(void)
{
    static const uint64_t ends[] = {INT64_MAX, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX, INT64_MAX - 1, 1};
    for (uint32_t i = 0; i < KEYS; ++i) {
        keys[i] = i < KEYS / 2 ? i % LARGE : i;
        values[i] = i % LARGE < 2 ? INT64_MAX : i % LARGE == 2 ? UINT64_C(1) << 63 : ends[i % 6];
        dates[i] = i % 3 ? INT32_MAX : INT32_MIN;
        validity[i / 8] |= (uint8_t)((i % 11 != 0) << i % 8);
    }
    for (uint32_t i = 0; i < PROBES; ++i) {
        lower[i] = i * 2654435761u % (KEYS + 1000);
        upper[i] = lower[i] + i % 50;
    }
    for (uint32_t i = 0; i < LARGE; ++i)
        lower[i] = upper[i] = i;
}

/* ---- Lookups --------------------------------------------------------------------------------- */

/* By key: sums of the first half of the rows, then the values of the second. */
static void expect(const kr_column *column, uint32_t n, int range, const uint64_t *sums, const char *what)
{
    static wide before[KEYS + 1]; /* before[k]: the sum over all keys below k */
    uint32_t wrong = 0;
    memset(before, 0, sizeof before);
    for (uint32_t i = 0; i < KEYS; ++i)
        before[keys[i] + 1] += value_at(column, i);
    for (uint32_t k = 0; k < KEYS; ++k)
        before[k + 1] += before[k];
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t end = (range ? upper[i] : lower[i]) + 1;
        const wide want = before[end < KEYS ? end : KEYS] - before[lower[i] < KEYS ? lower[i] : KEYS];
        wrong += sums[2 * i] != (uint64_t)want || sums[2 * i + 1] != (uint64_t)(want >> 64);
    }
    CHECK(wrong == 0);
    if (wrong)
        printf("  %s of %s: %u of %u sums are wrong\n", what, kr_type_name(column->type), wrong, n);
}

static void *in_device(const void *from, uint64_t nbytes)
{
    void *to = NULL;
    WORKS(kr_memory_allocate(device, nbytes, NULL, &to, &err));
    if (from)
        WORKS(kr_memory_copy(device, to, from, nbytes, NULL, &err));
    return to;
}

/* With all arrays in device memory, where a call only enqueues, and again as prepared work. `out` is aligned
 * to a word and no more. */
static void look_up_there(kr_index *index, const char *spec, const kr_column *of, int range)
{
    static uint64_t sums[2 * PROBES + 1];
    uint32_t *low = in_device(lower, sizeof lower), *high = in_device(upper, sizeof upper);
    uint64_t *out = in_device(NULL, sizeof sums);
    const kr_column low_there = {.type = KR_U32, .count = PROBES, .data = low},
                    high_there = {.type = KR_U32, .count = PROBES, .data = high};
    const uint64_t nbytes = of->count * kr_type_nbytes(of->type);
    void *data = in_device(of->data, nbytes), *bits = in_device(of->validity, sizeof validity);
    kr_column values_there = *of;
    values_there.data = data;
    values_there.validity = of->validity ? bits : NULL;
    const kr_sink sink = {
        .struct_size = sizeof sink, .result = KR_RESULT_SUM_WIDE, .values = &values_there, .out = out + 1};
    kr_prepared *prepared = NULL;
    WORKS(range ? kr_index_range(index, &low_there, &high_there, &sink, NULL, &err)
                : kr_index_lookup(index, &low_there, &sink, NULL, &err));
    WORKS(kr_memory_copy(device, sums, out, sizeof sums, NULL, &err));
    expect(of, PROBES, range, sums + 1, spec);
    memset(sums, 0, sizeof sums);
    WORKS(kr_memory_copy(device, out, sums, sizeof sums, NULL, &err));
    WORKS(range ? kr_prepare_range(index, &low_there, &high_there, &sink, &prepared, &err)
                : kr_prepare_lookup(index, &low_there, &sink, &prepared, &err));
    for (int run = 0; run < 3; ++run)
        WORKS(kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_memory_copy(device, sums, out, sizeof sums, NULL, &err));
    expect(of, PROBES, range, sums + 1, "prepared");
    kr_prepared_destroy(prepared);
    kr_memory_release(device, bits, sizeof validity, NULL);
    kr_memory_release(device, data, nbytes, NULL);
    kr_memory_release(device, out, sizeof sums, NULL);
    kr_memory_release(device, high, sizeof upper, NULL);
    kr_memory_release(device, low, sizeof lower, NULL);
}

/* A few probes of many rows each, and many probes; alone and beside other results. */
static void look_up(kr_index *index, const char *spec, const kr_column *of, int range)
{
    static const uint32_t counts[] = {1, LARGE, PROBES};
    static uint64_t sums[2 * PROBES], narrow[PROBES];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
        const kr_column low = {.type = KR_U32, .count = counts[c], .data = lower},
                        high = {.type = KR_U32, .count = counts[c], .data = upper};
        const kr_sink sink = {
            .struct_size = sizeof sink, .result = KR_RESULT_SUM_WIDE, .values = of, .out = sums};
        const kr_sink modulo = {
            .struct_size = sizeof sink, .result = KR_RESULT_SUM, .values = of, .out = narrow};
        const kr_sink *const both[] = {&modulo, &sink};
        uint32_t differ = 0;
        memset(sums, 0xEE, sizeof sums);
        WORKS(range ? kr_index_range(index, &low, &high, &sink, NULL, &err)
                    : kr_index_lookup(index, &low, &sink, NULL, &err));
        expect(of, counts[c], range, sums, spec);
        memset(sums, 0xEE, sizeof sums);
        WORKS(kr_index_lookup_many(index, &low, range ? &high : NULL, NULL, both, 2, NULL, &err));
        expect(of, counts[c], range, sums, "many");
        for (uint32_t i = 0; i < counts[c]; ++i)
            differ += narrow[i] != sums[2 * i];
        CHECK(differ == 0);
    }
}

static void check_index(const char *spec)
{
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
    const int hashes = strncmp(spec, "hash", 4) == 0 || strncmp(spec, "chain", 5) == 0;
    kr_index *index = NULL;
    if (kr_index_create(device, spec, &column, NULL, NULL, &index, NULL) == KR_ERR_UNSUPPORTED)
        return; /* nothing casts rays here */
    for (int range = 0; range < (hashes ? 1 : 2); ++range)
        for (uint32_t v = 0; v < 4; ++v) {
            look_up(index, spec, &value_columns[v], range);
            if (v == 1 && strncmp(spec, "rx", 2) != 0 && strncmp(spec, "cgrx", 4) != 0)
                look_up_there(index, spec, &value_columns[v], range);
        }
    kr_index_destroy(index);
}

static void check_nearest(void)
{
    const uint32_t few[] = {10, 20, 30}, probes[] = {9, 20, 25};
    const int64_t some[] = {INT64_MIN, -1, INT64_MAX};
    const kr_column column = {.type = KR_U32, .count = 3, .data = few},
                    asked = {.type = KR_U32, .count = 3, .data = probes},
                    added = {.type = KR_I64, .count = 3, .data = some};
    const kr_nearest_options options = {.struct_size = sizeof options, .side = KR_NEAREST_ABOVE};
    uint64_t sums[6] = {0};
    const kr_sink sink = {
        .struct_size = sizeof sink, .result = KR_RESULT_SUM_WIDE, .values = &added, .out = sums};
    kr_index *index = NULL;
    WORKS(kr_index_create(device, "array", &column, NULL, NULL, &index, &err));
    WORKS(kr_index_nearest(index, &asked, &options, &sink, NULL, &err));
    CHECK(sums[0] == UINT64_C(1) << 63 && sums[1] == UINT64_MAX);
    CHECK(sums[2] == UINT64_MAX && sums[3] == UINT64_MAX);
    CHECK(sums[4] == INT64_MAX && sums[5] == 0);
    kr_index_destroy(index);
}

/* ---- Scans ----------------------------------------------------------------------------------- */

static const kr_column *table_columns(kr_column columns[COLUMNS])
{
    columns[0] = (kr_column){.type = KR_U32, .count = KEYS, .data = keys};
    memcpy(columns + 1, value_columns, sizeof value_columns);
    return columns;
}

static void scan(kr_table *table, const char *spec, const kr_column *columns, uint32_t limit)
{
    char where[32];
    uint64_t sums[4][2], narrow[4];
    uint8_t valid[4];
    kr_scan_sink sinks[8];
    const kr_scan_sink *pointers[8];
    kr_condition *condition = NULL;
    const kr_condition *all[8];
    snprintf(where, sizeof where, "a < %u", limit);
    WORKS(kr_condition_parse(where, &condition, &err));
    for (uint32_t i = 0; i < 8; ++i) {
        sinks[i] = (kr_scan_sink){.struct_size = sizeof *sinks,
                                  .result = i < 4 ? KR_SCAN_SUM_WIDE : KR_SCAN_SUM,
                                  .column = 1 + i % 4,
                                  .out = i < 4 ? sums[i] : &narrow[i - 4],
                                  .valid = i < 4 ? &valid[i] : NULL};
        pointers[i] = &sinks[i];
        all[i] = condition;
    }
    WORKS(kr_scan(table, all, pointers, 8, NULL, NULL, &err));
    for (uint32_t c = 0; c < 4; ++c) {
        wide want = 0;
        for (uint64_t row = 0; row < KEYS; ++row)
            want += keys[row] < limit ? value_at(columns + 1 + c, row) : 0;
        CHECK(sums[c][0] == (uint64_t)want && sums[c][1] == (uint64_t)(want >> 64) &&
              valid[c] == (limit > 0));
        CHECK(narrow[c] == sums[c][0]);
        if (sums[c][1] != (uint64_t)(want >> 64))
            printf("  %s, %s, %s\n", spec, where, kr_type_name(columns[1 + c].type));
    }
    kr_condition_destroy(condition);
}

static void check_table(const char *spec)
{
    kr_column columns[COLUMNS];
    const char *const names[COLUMNS] = {"a", "b", "c", "d", "e"};
    kr_table *table = NULL;
    table_columns(columns);
    if (kr_table_create(device, spec, columns, names, COLUMNS, NULL, NULL, &table, NULL) ==
        KR_ERR_UNSUPPORTED)
        return;
    scan(table, spec, columns, 0);
    scan(table, spec, columns, 1);
    scan(table, spec, columns, LARGE);
    scan(table, spec, columns, KEYS);
    kr_table_destroy(table);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void check_refusals(void)
{
    const double reals[] = {1, 2, 3};
    const uint32_t few[] = {1, 2, 3};
    const kr_column column = {.type = KR_U32, .count = 3, .data = few};
    const char *const names[] = {"a", "b"};
    uint64_t out[8] = {0};
    for (kr_type type = KR_F32; type <= KR_F64; type = (kr_type)(type + 1)) {
        const kr_column added = {.type = type, .count = 3, .data = reals}, both[] = {column, added};
        const kr_sink sink = {
            .struct_size = sizeof sink, .result = KR_RESULT_SUM_WIDE, .values = &added, .out = out};
        const kr_scan_sink of_scan = {
            .struct_size = sizeof of_scan, .result = KR_SCAN_SUM_WIDE, .column = 1, .out = out};
        const kr_scan_sink *sinks[] = {&of_scan};
        kr_index *index = NULL;
        kr_table *table = NULL;
        WORKS(kr_index_create(device, "array", &column, NULL, NULL, &index, &err));
        REFUSED(KR_ERR_TYPE, kr_index_lookup(index, &column, &sink, NULL, &err));
        WORKS(kr_table_create(device, "full", both, names, 2, NULL, NULL, &table, &err));
        REFUSED(KR_ERR_TYPE, kr_scan(table, NULL, sinks, 1, NULL, NULL, &err));
        CHECK(out[0] == 0 && out[1] == 0);
        kr_table_destroy(table);
        kr_index_destroy(index);
    }
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"array",
                                        "array:probes=partitioned",
                                        "array:layout=aos,probes=sorted",
                                        "eytzinger",
                                        "pivot:probes=partitioned",
                                        "btree",
                                        "hash:probes=partitioned",
                                        "chain",
                                        "rx",
                                        "cgrx",
                                        "cgrx:updates=on"};
    static const char *const tables[] = {"full", "bindex", "rtscan", "rtc1", "rtc3"};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    make_columns();
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (size_t s = 0; s < sizeof specs / sizeof *specs; ++s)
        check_index(specs[s]);
    check_nearest();
    for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t)
        check_table(tables[t]);
    check_refusals();
    kr_device_close(device);
    return failures != 0;
}
