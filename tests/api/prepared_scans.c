/* Prepared scans: the same answers as scans, with other rows alive, and no memory taken. On a GPU
 * tests/gpu/graphs.cu captures them. */
#include "check.h"
#include "device_memory.h"
#include "device_name.h"

#include <stdlib.h>
#include <string.h>

enum { N = 50000, WORDS = (N + 31) / 32, COLUMNS = 3, CONDITIONS = 6, RUNS = 3, LONG_NBYTES = 16000 };

static uint32_t small[N], alive[WORDS];
static int64_t wide[N];
static double real[N];
static uint8_t validity[N / 8 + 1];
static const kr_column columns[COLUMNS] = {
    {.type = KR_U32, .count = N, .data = small},
    {.type = KR_I64, .count = N, .data = wide, .validity = validity},
    {.type = KR_F64, .count = N, .data = real},
};
static const char *const names[COLUMNS] = {"a", "b", "c"};
static kr_device *device;
static kr_table *table;
static const kr_condition *conditions[CONDITIONS];
static uint64_t state = 5;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

static void *allocate(uint64_t nbytes)
{
    void *to = NULL;
    WORKS(kr_memory_allocate(device, nbytes, NULL, &to, &err));
    return to;
}

/* What a scan writes: an answer for each condition, in device memory, and a copy of all of it. */
enum { OUT = (WORDS * 4 + 127) / 64 * 64, ROWS = N, EACH = OUT + 64 + ROWS * 4, ALL = CONDITIONS * EACH };

static kr_scan_sink sink_of(char *memory, kr_scan_result result, uint32_t i)
{
    char *mine = memory + (size_t)i * EACH;
    return (kr_scan_sink){.struct_size = sizeof(kr_scan_sink),
                          .result = result,
                          .column = result == KR_SCAN_SUM_WIDE ? i % 2
                                    : result >= KR_SCAN_SUM    ? i % COLUMNS
                                                               : 0,
                          .out = mine,
                          .valid = (uint8_t *)mine + OUT,
                          .rows = (uint32_t *)(mine + OUT + 64),
                          .rows_capacity = ROWS};
}

static char *read_back(const char *memory)
{
    char *all = malloc(ALL);
    WORKS(kr_memory_copy(device, all, memory, ALL, NULL, &err));
    return all;
}

static void clear(char *memory)
{
    void *nothing = calloc(ALL, 1);
    WORKS(kr_memory_copy(device, memory, nothing, ALL, NULL, &err));
    free(nothing);
}

static void change_alive(uint32_t *there)
{
    for (uint32_t w = 0; w < WORDS; ++w)
        alive[w] = random_below(1u << 16) << 16 | random_below(1u << 16);
    WORKS(kr_memory_copy(device, there, alive, sizeof alive, NULL, &err));
}

/* n conditions from `first` on, with one result or with all of them in turn. */
static void agree(const char *spec, char *memory, uint32_t *there, uint32_t first, uint32_t n, int result)
{
    kr_scan_sink sinks[CONDITIONS];
    const kr_scan_sink *pointers[CONDITIONS];
    const kr_scan_options options = {.struct_size = sizeof options, .alive = there};
    kr_prepared *prepared = NULL;
    for (uint32_t i = 0; i < n; ++i) {
        sinks[i] = sink_of(memory, (kr_scan_result)(result ? result : (int)KR_SCAN_BITMAP + (int)(i % 7)), i);
        pointers[i] = sinks + i;
    }
    change_alive(there);
    WORKS(kr_prepare_scan(table, conditions + first, pointers, n, &options, &prepared, &err));
    CHECK(kr_prepared_scratch_nbytes(prepared) < 64 * sizeof alive + (1 << 20));
    for (int run = 0; run < RUNS && prepared; ++run) {
        change_alive(there);
        clear(memory);
        const uint64_t before = in_use(device);
        WORKS(kr_prepared_run(prepared, NULL, &err));
        CHECK(in_use(device) == before);
        char *run_wrote = read_back(memory);
        clear(memory);
        WORKS(kr_scan(table, conditions + first, pointers, n, &options, NULL, &err));
        char *want = read_back(memory);
        const int same = !memcmp(run_wrote, want, ALL);
        CHECK(same);
        if (!same)
            printf("  %s, conditions %u to %u, result %d, run %d\n", spec, first, first + n - 1, result, run);
        free(run_wrote);
        free(want);
    }
    kr_prepared_destroy(prepared);
}

/* ---- ROWS with too little room ------------------------------------------------------------------- */

static int are_left_out(const char *run_wrote, const char *want, uint64_t room)
{
    int right = 1;
    for (uint32_t i = 0; i < CONDITIONS; ++i) {
        const char *got = run_wrote + (size_t)i * EACH, *whole = want + (size_t)i * EACH;
        const uint64_t n = *(const uint64_t *)whole, kept = n < room ? n : room;
        const uint32_t *rows = (const uint32_t *)(got + OUT + 64);
        right &= *(const uint64_t *)got == n && !memcmp(rows, whole + OUT + 64, kept * sizeof *rows);
        for (uint64_t r = room; r < ROWS; ++r)
            right &= rows[r] == 0;
    }
    return right;
}

/* The number of all rows that match is told; those that do not fit are left out. */
static void leave_out(const char *spec, char *memory, uint32_t *there, uint64_t room)
{
    kr_scan_sink sinks[CONDITIONS];
    const kr_scan_sink *pointers[CONDITIONS];
    const kr_scan_options options = {.struct_size = sizeof options, .alive = there};
    kr_prepared *prepared = NULL;
    for (uint32_t i = 0; i < CONDITIONS; ++i) {
        sinks[i] = sink_of(memory, KR_SCAN_ROWS, i);
        sinks[i].rows_capacity = room;
        pointers[i] = sinks + i;
    }
    change_alive(there);
    WORKS(kr_prepare_scan(table, conditions, pointers, CONDITIONS, &options, &prepared, &err));
    for (int run = 0; run < RUNS && prepared; ++run) {
        change_alive(there);
        clear(memory);
        WORKS(kr_prepared_run(prepared, NULL, &err));
        char *run_wrote = read_back(memory);
        for (uint32_t i = 0; i < CONDITIONS; ++i)
            sinks[i].rows_capacity = ROWS;
        WORKS(kr_scan(table, conditions, pointers, CONDITIONS, &options, NULL, &err));
        char *want = read_back(memory);
        const int right = are_left_out(run_wrote, want, room);
        CHECK(right);
        if (!right)
            printf("  %s, room %llu, run %d\n", spec, (unsigned long long)room, run);
        free(run_wrote);
        free(want);
    }
    kr_prepared_destroy(prepared);
}

/* ---- What is refused ---------------------------------------------------------------------------- */

static void refuse(char *memory, uint32_t *there)
{
    const kr_scan_sink sink = sink_of(memory, KR_SCAN_COUNT, 0), *sinks[] = {&sink};
    kr_scan_options options = {.struct_size = sizeof options, .alive = there};
    kr_prepared *prepared = NULL;
    kr_report *report = NULL;
    uint64_t host = 0;
    REFUSED(KR_ERR_ARGUMENT, kr_prepare_scan(NULL, conditions, sinks, 1, &options, &prepared, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepare_scan(table, conditions, NULL, 1, &options, &prepared, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepare_scan(table, conditions, sinks, 1, &options, NULL, &err));
    WORKS(kr_report_create(&report, &err));
    options.report = report;
    REFUSED(KR_ERR_UNSUPPORTED, kr_prepare_scan(table, conditions, sinks, 1, &options, &prepared, &err));
    kr_report_destroy(report);
    options.report = NULL;
    if (strcmp(device_name, "cpu") != 0) {
        kr_scan_sink to_host = sink;
        const kr_scan_sink *host_sinks[] = {&to_host};
        to_host.out = &host;
        REFUSED(KR_ERR_ARGUMENT,
                kr_prepare_scan(table, conditions, host_sinks, 1, &options, &prepared, &err));
        options.alive = alive;
        REFUSED(KR_ERR_ARGUMENT, kr_prepare_scan(table, conditions, sinks, 1, &options, &prepared, &err));
    }
    CHECK(prepared == NULL);
}

static void refuse_rays(char *memory)
{
    const kr_scan_sink sink = sink_of(memory, KR_SCAN_COUNT, 0), *sinks[] = {&sink};
    kr_table *rays = NULL;
    kr_prepared *prepared = NULL;
    kr_error err = {0};
    if (kr_table_create(device, "rtscan", columns, names, COLUMNS, NULL, NULL, &rays, &err) != KR_OK)
        return; /* nothing here casts rays */
    CHECK(kr_prepare_scan(rays, conditions, sinks, 1, NULL, &prepared, &err) == KR_ERR_UNSUPPORTED);
    CHECK(strstr(err.text, "rtscan") != NULL);
    kr_table_destroy(rays);
}

/* Once the table has changed, the scan must be prepared again. */
static void refuse_changed(char *memory)
{
    const kr_scan_sink sink = sink_of(memory, KR_SCAN_COUNT, 0), *sinks[] = {&sink};
    const uint32_t gone[] = {3};
    uint64_t n_deleted = 0;
    kr_prepared *prepared = NULL;
    WORKS(kr_prepare_scan(table, conditions, sinks, 1, NULL, &prepared, &err));
    WORKS(kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_table_delete(table, gone, 1, NULL, &n_deleted, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_run(prepared, NULL, &err));
    kr_prepared_destroy(prepared);
    WORKS(kr_prepare_scan(table, conditions, sinks, 1, NULL, &prepared, &err));
    WORKS(kr_prepared_run(prepared, NULL, &err));
    kr_prepared_destroy(prepared);
}

/* ---- Conditions, and memory full of garbage ---------------------------------------------------- */

static void *give_garbage(void *ctx, size_t nbytes, void *stream)
{
    void *memory = aligned_alloc(256, (nbytes + 255) / 256 * 256);
    (void)ctx, (void)stream;
    if (memory)
        memset(memory, 0xA5, nbytes);
    return memory;
}

static void take_back(void *ctx, void *memory, size_t nbytes, void *stream)
{
    (void)ctx, (void)stream;
    memset(memory, 0x5A, nbytes);
    free(memory);
}

static void parse(uint32_t i, const char *text)
{
    kr_condition *condition = NULL;
    WORKS(kr_condition_parse(text, &condition, &err));
    conditions[i] = condition;
}

/* More values than kernel parameters hold, some in a row and some not. */
static void parse_conditions(void)
{
    char *many = malloc(LONG_NBYTES);
    int at = snprintf(many, LONG_NBYTES, "a in (1");
    for (uint32_t v = 3; v < 2400; v += 1 + v % 3)
        at += snprintf(many + at, (size_t)(LONG_NBYTES - at), ", %u", v);
    snprintf(many + at, (size_t)(LONG_NBYTES - at), ") and c < 0.75");
    parse(0, "a < 300 and b > 5");
    parse(1, many);
    parse(2, "a = 7 or c > 0.5 and b is not null");
    parse(3, "not (a between 100 and 2000) or b in (3, 9, 27)");
    parse(4, "b is null");
    conditions[5] = NULL;
    free(many);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"full", "full:narrow=on", "bindex", "bindex:refine=scatter"};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    const kr_device_options garbage = {
        .struct_size = sizeof garbage, .allocate = give_garbage, .release = take_back};
    WORKS(kr_device_open(device_name, strcmp(device_name, "cpu") ? NULL : &garbage, &device, &err));
    for (uint32_t i = 0; i < N; ++i) {
        small[i] = random_below(3000);
        wide[i] = (int64_t)random_below(100) - 20;
        real[i] = random_below(1000) / 1000.0;
        validity[i / 8] = (uint8_t)(validity[i / 8] | (random_below(10) != 0) << i % 8);
    }
    parse_conditions();
    char *memory = allocate(ALL);
    uint32_t *there = allocate(sizeof alive);
    for (uint32_t s = 0; s < sizeof specs / sizeof *specs; ++s) {
        WORKS(kr_table_create(device, specs[s], columns, names, COLUMNS, NULL, NULL, &table, &err));
        for (uint32_t first = 0; first < CONDITIONS; ++first)
            for (int result = KR_SCAN_BITMAP; result <= KR_SCAN_SUM_WIDE; ++result)
                agree(specs[s], memory, there, first, 1, result);
        agree(specs[s], memory, there, 0, CONDITIONS, 0);
        agree(specs[s], memory, there, 0, CONDITIONS, KR_SCAN_COUNT);
        agree(specs[s], memory, there, 0, CONDITIONS, KR_SCAN_BITMAP);
        leave_out(specs[s], memory, there, 0);
        leave_out(specs[s], memory, there, 300);
        refuse(memory, there);
        refuse_changed(memory);
        agree(specs[s], memory, there, 0, CONDITIONS, KR_SCAN_ROWS);
        kr_table_destroy(table);
    }
    refuse_rays(memory);
    for (uint32_t i = 0; i < CONDITIONS; ++i)
        kr_condition_destroy((kr_condition *)conditions[i]);
    kr_memory_release(device, memory, ALL, NULL);
    kr_memory_release(device, there, sizeof alive, NULL);
    CHECK(in_use(device) == 0);
    kr_device_close(device);
    return failures != 0;
}
