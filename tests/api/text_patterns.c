/* LIKE: random patterns against a matcher that tries everything, with few letters, so that pieces nearly
 * match again and again; pieces of many words; and patterns that take text times pattern where a search
 * begins anew at each character. */
#include "text_tables.h"

#include "device_name.h"

#include <stdlib.h>
#include <time.h>

enum { N = 1500, PATTERNS = 700, LONG_TEXT = 2000000, LONG_PIECE = 50000, LONG_ONES = 1000 };

static kr_device *device;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static kr_table *create(const kr_column *column)
{
    static const char *const names[] = {"t"};
    kr_table *table = NULL;
    WORKS(kr_table_create(device, "full", column, names, 1, NULL, NULL, &table, &err));
    return table;
}

/* Rows of a pattern; *seconds may be NULL. */
static uint64_t find(kr_table *table, const char *pattern, uint64_t n_pattern, uint32_t *rows,
                     uint64_t capacity, double *seconds)
{
    const int64_t offsets[] = {0, (int64_t)n_pattern};
    const kr_column value = {.type = KR_LARGE_BINARY,
                             .count = 1,
                             .data = offsets,
                             .reserved_words = {(uintptr_t)pattern, n_pattern}};
    kr_condition *condition = NULL;
    uint64_t n = 0;
    const kr_scan_sink sink = {.struct_size = sizeof sink,
                               .result = KR_SCAN_ROWS,
                               .out = &n,
                               .rows = rows,
                               .rows_capacity = capacity};
    const kr_scan_sink *sinks[] = {&sink};
    WORKS(kr_condition_compare("t", KR_LIKE, &value, &condition, &err));
    const kr_condition *conditions[] = {condition};
    const double begin = now();
    WORKS(kr_scan(table, conditions, sinks, 1, NULL, NULL, &err));
    if (seconds)
        *seconds = now() - begin;
    kr_condition_destroy(condition);
    return n;
}

/* ---- Random patterns --------------------------------------------------------------------------- */

/* Of a, b, a character of two bytes and halves of it; of patterns also wildcards. */
static row_text random_parts(uint32_t most, int is_pattern)
{
    static const char *const parts[] = {"a", "a", "a", "b", "\xC3\xA9", "\xC3", "\xA9", "%", "%", "_", "_"};
    row_text made = {0};
    for (uint32_t left = below(most + 1); left; --left) {
        const char *part = parts[below(is_pattern ? 11 : below(3) ? 4 : 7)];
        memcpy(made.bytes + made.n, part, strlen(part));
        made.n += (uint32_t)strlen(part);
    }
    return made;
}

static void check_random(void)
{
    static row_text texts[N];
    static text_column made;
    static uint32_t rows[N];
    uint64_t matches = 0;
    for (uint32_t i = 0; i < N; ++i)
        texts[i] = random_parts(14, 0);
    make_column(&made, KR_STRING, texts, N);
    kr_table *table = create(&made.column);
    for (uint32_t round = 0; round < PATTERNS; ++round) {
        const row_text pattern = random_parts(9, 1);
        const uint64_t n = find(table, pattern.bytes, pattern.n, rows, N, NULL);
        uint64_t next = 0;
        int held = 1;
        for (uint32_t i = 0; i < N && held; ++i)
            if (holds(texts + i, KR_LIKE, &pattern, 1))
                held = next < n && rows[next++] == i;
        CHECK(held && next == n);
        matches += n;
        if (!held || next != n)
            printf("... pattern '%.*s'\n", (int)pattern.n, pattern.bytes);
    }
    CHECK(matches > PATTERNS * 10);
    kr_table_destroy(table);
}

/* ---- Long patterns ------------------------------------------------------------------------------- */

/* head, then n times `part`, then tail. */
static char *repeat(const char *head, const char *part, uint64_t n, const char *tail, uint64_t *nbytes)
{
    const size_t heads = strlen(head), parts = strlen(part), tails = strlen(tail);
    char *made = malloc(heads + parts * n + tails + 1);
    *nbytes = heads + parts * n + tails;
    memcpy(made, head, heads);
    for (uint64_t i = 0; i < n; ++i)
        memcpy(made + heads + i * parts, part, parts);
    memcpy(made + heads + n * parts, tail, tails + 1);
    return made;
}

/* How many of the texts there are; in less time than any search that begins anew takes. */
static void check_pattern(kr_table *table, const char *head, const char *part, uint64_t n, const char *tail,
                          uint64_t want)
{
    uint32_t rows[4];
    uint64_t nbytes;
    double seconds = 0;
    char *pattern = repeat(head, part, n, tail, &nbytes);
    const uint64_t found = find(table, pattern, nbytes, rows, 4, &seconds);
    CHECK(found == want);
    CHECK(seconds < 10);
    if (found != want || seconds >= 10)
        printf("... '%s', then '%s' %llu times, then '%s': %llu rows in %.1f s\n", head, part,
               (unsigned long long)n, tail, (unsigned long long)found, seconds);
    free(pattern);
}

/* Three texts: a million times "\xC3\xA9" and as often "aa", with b behind; only a; a with c behind. */
static void check_long(void)
{
    int64_t offsets[4] = {0};
    uint64_t n[3];
    char *texts[3] = {repeat("",
                             "\xC3\xA9"
                             "aa",
                             LONG_TEXT / 4, "b", &n[0]),
                      repeat("", "a", LONG_TEXT, "", &n[1]), repeat("", "a", LONG_TEXT, "c", &n[2])};
    char *bytes = malloc(n[0] + n[1] + n[2]);
    for (int i = 0; i < 3; ++i) {
        memcpy(bytes + offsets[i], texts[i], n[i]);
        offsets[i + 1] = offsets[i] + (int64_t)n[i];
        free(texts[i]);
    }
    const kr_column column = {.type = KR_LARGE_STRING,
                              .count = 3,
                              .data = offsets,
                              .reserved_words = {(uintptr_t)bytes, (uint64_t)offsets[3]}};
    kr_table *table = create(&column);
    check_pattern(table, "%", "a", LONG_PIECE, "b%", 0);
    check_pattern(table, "%", "a", LONG_PIECE, "%", 2);
    check_pattern(table, "%", "a", LONG_PIECE, "c", 1);
    check_pattern(table, "%",
                  "\xC3\xA9"
                  "aa",
                  LONG_PIECE, "b%", 1);
    check_pattern(table, "%",
                  "\xC3\xA9"
                  "aa",
                  LONG_PIECE, "ab%", 0);
    check_pattern(table, "%", "a_a", 21, "b%", 0);
    check_pattern(table, "%", "_aa", 21, "b%", 1);
    check_pattern(table, "%", "_aa", LONG_ONES, "b", 1);
    check_pattern(table, "%", "_aa", LONG_ONES, "c%", 1);
    check_pattern(table, "%", "_aa", LONG_ONES, "d%", 0);
    check_pattern(table, "%", "a_a", LONG_ONES, "%", 3);
    check_pattern(table, "%b", "_", 200, "%", 0);
    check_pattern(table, "%", "_%", LONG_ONES, "b", 1);
    check_pattern(table, "%", "_", LONG_ONES, "", 3);
    check_pattern(table, "", "_", LONG_TEXT / 4 * 3 + 1, "", 1);
    check_pattern(table, "", "a%", LONG_PIECE, "c", 1);
    kr_table_destroy(table);
    free(bytes);
}

int main(int argc, char **argv)
{
    const int skip = take_device_name(argc, argv);
    if (skip)
        return skip;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    check_random();
    check_long();
    kr_device_close(device);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
