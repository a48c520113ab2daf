/* kr_table_append, kr_table_delete and kr_table_delete_where: wrong calls, what later scans say, and threads
 * that scan between changes. */
#include "check.h"
#include "device_name.h"

#include <pthread.h>

enum { N = 1000, WORDS = (N + 31) / 32, COLUMNS = 2, THREADS = 4 };

static uint32_t small[2 * N];
static double real[2 * N];
static const char *const names[COLUMNS] = {"a", "b"};
static kr_device *device;

static void describe(uint64_t first, uint64_t count, kr_column columns[COLUMNS])
{
    columns[0] = (kr_column){.type = KR_U32, .count = count, .data = small + first};
    columns[1] = (kr_column){.type = KR_F64, .count = count, .data = real + first};
}

static kr_table *create(const char *spec)
{
    kr_column columns[COLUMNS];
    kr_table *table = NULL;
    describe(0, N, columns);
    WORKS(kr_table_create(device, spec, columns, names, COLUMNS, NULL, NULL, &table, &err));
    return table;
}

static kr_table_info info_of(const kr_table *table)
{
    kr_table_info info = {.struct_size = sizeof info};
    WORKS(kr_table_query(table, &info, &err));
    return info;
}

static kr_condition *parsed(const char *text)
{
    kr_condition *condition = NULL;
    WORKS(kr_condition_parse(text, &condition, &err));
    return condition;
}

static uint64_t count_of(kr_table *table, const char *where)
{
    uint64_t count = UINT64_MAX;
    kr_condition *condition = parsed(where);
    const kr_condition *conditions[] = {condition};
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count};
    const kr_scan_sink *sinks[] = {&sink};
    WORKS(kr_scan(table, conditions, sinks, 1, NULL, NULL, &err));
    kr_condition_destroy(condition);
    return count;
}

/* ---- Wrong calls ----------------------------------------------------------------------------- */

static void refuse_appends(kr_table *table, kr_stream *foreign)
{
    kr_column more[COLUMNS], wrong[COLUMNS];
    describe(N, 10, more);
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(NULL, more, COLUMNS, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, NULL, COLUMNS, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, more, 1, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, more, 3, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, more, COLUMNS, foreign, &err));
    describe(N, 10, wrong);
    wrong[1].count = 9;
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, wrong, COLUMNS, NULL, &err));
    describe(N, 10, wrong);
    wrong[1].data = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, wrong, COLUMNS, NULL, &err));
    wrong[1].data = (const char *)real + 4;
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, wrong, COLUMNS, NULL, &err));
    describe(N, 0, wrong);
    wrong[0].type = KR_I32;
    REFUSED(KR_ERR_TYPE, kr_table_append(table, wrong, COLUMNS, NULL, &err));
    wrong[0].type = (kr_type)99;
    REFUSED(KR_ERR_TYPE, kr_table_append(table, wrong, COLUMNS, NULL, &err));
    describe(N, UINT64_C(4294967295) - N, wrong); /* one too many; not read */
    REFUSED(KR_ERR_LIMIT, kr_table_append(table, wrong, COLUMNS, NULL, &err));
    describe(N, UINT64_C(1) << 40, wrong);
    REFUSED(KR_ERR_LIMIT, kr_table_append(table, wrong, COLUMNS, NULL, &err));
    describe(N, 0, wrong);
    wrong[0].data = wrong[1].data = NULL;
    WORKS(kr_table_append(table, wrong, COLUMNS, NULL, &err));
    CHECK(info_of(table).rows == N && info_of(table).alive_rows == N);
}

static void refuse_deletes(kr_table *table, kr_stream *foreign)
{
    const uint32_t rows[] = {0, 1, N, 2};
    uint64_t n = 7;
    kr_condition *unknown = parsed("zz < 5"), *text = parsed("a < 'x'");
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete(NULL, rows, 2, NULL, &n, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete(table, NULL, 2, NULL, &n, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete(table, (const uint32_t *)(const void *)((const char *)rows + 2),
                                             1, NULL, &n, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete(table, rows, 2, foreign, &n, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete(table, rows, 4, NULL, &n, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete_where(NULL, NULL, NULL, &n, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete_where(table, NULL, foreign, &n, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_delete_where(table, unknown, NULL, &n, &err));
    REFUSED(KR_ERR_TYPE, kr_table_delete_where(table, text, NULL, &n, &err));
    CHECK(n == 7); /* written on success only */
    WORKS(kr_table_delete(table, NULL, 0, NULL, &n, &err));
    CHECK(n == 0 && info_of(table).alive_rows == N && count_of(table, "") == N);
    kr_condition_destroy(text);
    kr_condition_destroy(unknown);
}

static void check_misuse(void)
{
    kr_table *table = create("full");
    kr_device *other = NULL;
    kr_stream *foreign = NULL;
    WORKS(kr_device_open("cpu", NULL, &other, &err));
    WORKS(kr_stream_create(other, &foreign, &err));
    refuse_appends(table, foreign);
    refuse_deletes(table, foreign);
    kr_stream_destroy(foreign);
    kr_device_close(other);
    kr_table_destroy(table);
}

/* ---- What is left ---------------------------------------------------------------------------- */

static const char *component_after_columns(const kr_table *table)
{
    CHECK(!strcmp(kr_table_component_name(table, 0), "columns"));
    return kr_table_component_name(table, 1);
}

static int has_phase(const kr_table *table, const char *name)
{
    for (uint32_t i = 0; i < kr_table_phase_count(table); ++i)
        if (!strcmp(kr_table_phase_name(table, i), name))
            return 1;
    return 0;
}

/* Ids count on behind deleted rows, and deleted rows do not come back. */
static void check_life(const char *spec)
{
    static const uint32_t last[] = {N - 1, N - 1, 0};
    kr_table *table = create(spec);
    kr_column more[COLUMNS];
    kr_condition *low = parsed("a < 100");
    uint32_t rows[2 * N];
    uint64_t n = 0, listed = 0;
    CHECK(!strstr(spec, "rtscan") || has_phase(table, "sort")); /* the keys of the axes */
    WORKS(kr_table_delete(table, last, 3, NULL, &n, &err));
    CHECK(n == 2 && info_of(table).alive_rows == N - 2 && has_phase(table, "delete"));
    WORKS(kr_table_delete(table, last, 3, NULL, &n, &err));
    CHECK(n == 0);
    describe(N, 10, more);
    WORKS(kr_table_append(table, more, COLUMNS, NULL, &err));
    CHECK(info_of(table).rows == N + 10 && info_of(table).alive_rows == N + 8 && has_phase(table, "copy"));
    CHECK(info_of(table).copied_columns == COLUMNS);
    CHECK(!strcmp(component_after_columns(table), "spare room"));
    const uint64_t before = count_of(table, ""), lows = count_of(table, "a < 100");
    WORKS(kr_table_delete_where(table, low, NULL, &n, &err));
    CHECK(before == N + 8 && n == lows && lows > 0 && count_of(table, "a < 100") == 0);
    CHECK(count_of(table, "") == before - lows);
    const kr_scan_sink sink = {.struct_size = sizeof sink,
                               .result = KR_SCAN_ROWS,
                               .out = &listed,
                               .rows = rows,
                               .rows_capacity = 2 * N};
    const kr_scan_sink *sinks[] = {&sink};
    WORKS(kr_scan(table, NULL, sinks, 1, NULL, NULL, &err));
    CHECK(listed == before - lows && rows[listed - 1] >= N && rows[0] > 0);
    for (uint64_t i = 0; i < listed; ++i)
        CHECK(small[rows[i]] >= 100 && rows[i] != N - 1);
    WORKS(kr_table_delete_where(table, NULL, NULL, NULL, &err));
    CHECK(info_of(table).alive_rows == 0 && count_of(table, "") == 0);
    WORKS(kr_table_validate(table, &err));
    kr_condition_destroy(low);
    kr_table_destroy(table);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    kr_table *table;
    uint64_t want, wrong;
} worker;

static void *scan_often(void *argument)
{
    worker *w = argument;
    kr_condition *condition = NULL;
    w->wrong += kr_condition_parse("a >= 500 or b < 2", &condition, NULL) != KR_OK;
    for (int i = 0; i < 10; ++i) {
        uint64_t count = 0;
        uint32_t alive[(2 * N + 31) / 32];
        memset(alive, 0xFF, sizeof alive);
        const kr_condition *conditions[] = {condition};
        const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count};
        const kr_scan_sink *sinks[] = {&sink};
        const kr_scan_options options = {.struct_size = sizeof options, .alive = i % 2 ? alive : NULL};
        w->wrong += kr_scan(w->table, conditions, sinks, 1, &options, NULL, NULL) != KR_OK;
        w->wrong += count != w->want;
    }
    kr_condition_destroy(condition);
    return NULL;
}

static void scan_together(kr_table *table)
{
    worker workers[THREADS] = {0};
    const uint64_t want = count_of(table, "a >= 500 or b < 2");
    for (int i = 0; i < THREADS; ++i) {
        workers[i].table = table;
        workers[i].want = want;
        CHECK(pthread_create(&workers[i].thread, NULL, scan_often, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].wrong == 0);
    }
}

/* Threads scan; then one changes the table, alone. */
static void check_threads(const char *spec)
{
    kr_table *table = create(spec);
    for (uint32_t round = 0; round < 4; ++round) {
        const uint32_t rows[] = {round, round * 100, N / 2 + round};
        kr_column more[COLUMNS];
        scan_together(table);
        WORKS(kr_table_delete(table, rows, 3, NULL, NULL, &err));
        scan_together(table);
        describe(N, 100 + round, more);
        WORKS(kr_table_append(table, more, COLUMNS, NULL, &err));
    }
    scan_together(table);
    kr_table_destroy(table);
}

static int runs_here(const char *spec)
{
    kr_column columns[COLUMNS];
    kr_table *table = NULL;
    kr_error err = {0};
    describe(0, N, columns);
    const kr_status status = kr_table_create(device, spec, columns, names, COLUMNS, NULL, NULL, &table, &err);
    if (status == KR_ERR_UNSUPPORTED)
        printf("skipped %s: %s\n", spec, err.text);
    kr_table_destroy(table);
    return status != KR_ERR_UNSUPPORTED;
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {
        "full",   "full:narrow=on",     "bindex",        "bindex:refine=scatter",
        "rtscan", "rtscan:scenes=lazy", "rtc1:rays=100", "rtc3:rays=20"};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    for (uint32_t i = 0; i < 2 * N; ++i) {
        small[i] = (uint32_t)(i * 2654435761u) % 1000;
        real[i] = (double)(small[i] % 64) / 8;
    }
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    if (failures)
        return 1;
    check_misuse();
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i)
        if (runs_here(specs[i])) {
            check_life(specs[i]);
            check_threads(specs[i]);
        }
    kr_device_close(device);
    return failures != 0;
}
