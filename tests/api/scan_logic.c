/* full:logic=: how many rows a logical and a branching AND of three columns read, and that they agree. */
#include "check.h"
#include "device_name.h"
#include "report_counter.h"

enum { N = 64 * 1024, COLUMNS = 3, MOST = 1000 };

/* Conditions a < below[0] and b < below[1] and c < below[2], of MOST. */
static const uint32_t few[COLUMNS] = {5, 200, 600}, more[COLUMNS] = {350, 400, 600},
                      most[COLUMNS] = {450, 500, 600};
static uint32_t values[COLUMNS][N];

/* Rows in groups of `size` of which one fits the first n columns. */
static uint64_t grouped(const uint32_t *below, uint32_t size, uint32_t n)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < N; i += size) {
        int any = 0;
        for (uint32_t k = i; k < i + size; ++k) {
            int fits = 1;
            for (uint32_t c = 0; c < n; ++c)
                fits &= values[c][k] < below[c];
            any |= fits;
        }
        rows += any ? size : 0;
    }
    return rows;
}

/* `group` rows are read or skipped together; all of them where it is N. */
static void scan(kr_device *device, const char *spec, const uint32_t *below, uint32_t group)
{
    char text[64];
    static const char *const names[COLUMNS] = {"a", "b", "c"};
    kr_column columns[COLUMNS];
    kr_table *table = NULL;
    kr_condition *condition = NULL;
    kr_report *report = NULL;
    uint64_t count = 0, want = 0;
    for (uint32_t c = 0; c < COLUMNS; ++c)
        columns[c] = (kr_column){.type = KR_U32, .count = N, .data = values[c]};
    for (uint32_t i = 0; i < N; ++i)
        want += values[0][i] < below[0] && values[1][i] < below[1] && values[2][i] < below[2];
    WORKS(kr_report_create(&report, &err));
    WORKS(kr_table_create(device, spec, columns, names, COLUMNS, NULL, NULL, &table, &err));
    snprintf(text, sizeof text, "c < %u and a < %u and b < %u", below[2], below[0], below[1]);
    WORKS(kr_condition_parse(text, &condition, &err));
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count};
    const kr_scan_sink *const sinks[] = {&sink};
    const kr_scan_options options = {.struct_size = sizeof options, .report = report, .count_work = 1};
    WORKS(kr_scan(table, (const kr_condition *const *)&condition, sinks, 1, &options, NULL, &err));
    CHECK(count == want);
    const uint64_t reads = N + grouped(below, group, 1) + grouped(below, group, 2);
    const uint64_t compared = report_counter(report, "rows compared");
    CHECK(compared == reads);
    if (compared != reads)
        printf("  %s: %llu rows compared, not %llu\n", spec, (unsigned long long)compared,
               (unsigned long long)reads);
    kr_report_destroy(report);
    kr_condition_destroy(condition);
    kr_table_destroy(table);
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    const int is_cpu = strcmp(device_name, "cpu") == 0;
    kr_device *device = NULL;
    uint64_t state = 7;
    if (skipped)
        return skipped;
    for (uint32_t i = 0; i < COLUMNS * N; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        values[i / N][i % N] = (uint32_t)(state >> 33) % MOST;
    }
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    scan(device, "full:logic=and,zones=off,narrow=off", few, N);
    scan(device, "full:logic=branching,zones=off,narrow=off", few, is_cpu ? 32 : 4);
    /* auto branches on a GPU, up to 2 of 5 rows, in copies of two bytes up to 1 of 32. */
    scan(device, "full:logic=auto,zones=off,narrow=off", few, is_cpu ? 256 : 4);
    scan(device, "full:logic=auto,zones=off,narrow=off", more, is_cpu ? 256 : 4);
    scan(device, "full:logic=auto,zones=off,narrow=off", most, 256);
    scan(device, "full:logic=auto,zones=off,narrow=on", few, is_cpu ? 256 : 4);
    scan(device, "full:logic=auto,zones=off,narrow=on", more, 256);
    kr_device_close(device);
    return failures != 0;
}
