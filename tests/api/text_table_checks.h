/* A table of texts and numbers, what scans of it are to answer, and what appending to it and saving it do: of
 * text_tables.c and text_tables_shared.c. */
#ifndef KEYRAY_TESTS_TEXT_TABLE_CHECKS_H
#define KEYRAY_TESTS_TEXT_TABLE_CHECKS_H

#include "device_name.h"
#include "text_tables.h"

#include <unistd.h>

enum { N = 3000, MORE = 600, COLUMNS = 3, VALUES_MOST = 5 };

static const char *const specs[] = {"full", "bindex", "bindex:vectors=32", "rtscan", "rtc1", "rtc3", "best"};
enum { SPECS = sizeof specs / sizeof *specs };
static const char *const names[COLUMNS] = {"name", "number", "url"};

static kr_device *device;
static row_text rows[COLUMNS][N + MORE]; /* of columns 0 and 2 */
static uint32_t numbers[N + MORE];
static uint8_t deleted[N + MORE];
static uint32_t n_rows;
static text_column made[COLUMNS], values_made;

/* ---- Tables ---------------------------------------------------------------------------------- */

static inline void make_rows(uint32_t first, uint32_t n, uint32_t longest)
{
    for (uint32_t i = first; i < first + n; ++i) {
        for (uint32_t c = 0; c < COLUMNS; c += 2) {
            rows[c][i] = random_text(c ? 2 : longest);
            rows[c][i].is_null = below(10) == 0;
        }
        numbers[i] = below(1000);
        deleted[i] = 0;
    }
}

static inline void describe(kr_type type, uint32_t first, uint32_t n, kr_column columns[COLUMNS])
{
    make_column(&made[0], type, rows[0] + first, n);
    make_column(&made[2], type == KR_STRING ? KR_BINARY_VIEW : KR_LARGE_STRING, rows[2] + first, n);
    columns[0] = made[0].column;
    columns[1] = (kr_column){.type = KR_U32, .count = n, .data = numbers + first};
    columns[2] = made[2].column;
}

/* NULL: the kind does not run here. */
static inline kr_table *create(const char *spec, kr_type type, const kr_table_options *options)
{
    kr_column columns[COLUMNS];
    kr_table *table = NULL;
    kr_error err = {0};
    describe(type, 0, n_rows, columns);
    const kr_status status =
        kr_table_create(device, spec, columns, names, COLUMNS, options, NULL, &table, &err);
    if (status == KR_ERR_UNSUPPORTED || status == KR_ERR_SPEC) {
        printf("skipped %s: %s\n", spec, err.text);
        return NULL;
    }
    if (status != KR_OK)
        printf("%s: %s\n", spec, err.text);
    CHECK(status == KR_OK);
    memset(made, 0xEE, sizeof made); /* the table needs none of it */
    return table;
}

static inline int is_unsupported(const kr_table *table, const kr_condition *condition)
{
    char text[4096];
    return kr_scan_explain(table, condition, text, sizeof text, NULL) == KR_ERR_UNSUPPORTED;
}

/* ---- Scans ----------------------------------------------------------------------------------- */

/* What each row is expected to be: 1, 0 or -1, as `holds` says. */
static int expected[N + MORE];

static inline void check_rows(kr_table *table, const kr_condition *condition, const char *what)
{
    static uint32_t found[N + MORE], bits[(N + MORE + 31) / 32];
    uint64_t n = 0, count = 0, next = 0;
    const kr_scan_sink sinks[] = {{.struct_size = sizeof *sinks,
                                   .result = KR_SCAN_ROWS,
                                   .out = &n,
                                   .rows = found,
                                   .rows_capacity = N + MORE},
                                  {.struct_size = sizeof *sinks, .result = KR_SCAN_COUNT, .out = &count},
                                  {.struct_size = sizeof *sinks, .result = KR_SCAN_BITMAP, .out = bits}};
    const kr_scan_sink *all[] = {sinks, sinks + 1, sinks + 2};
    const kr_condition *conditions[] = {condition, condition, condition};
    const int before = failures;
    WORKS(kr_scan(table, conditions, all, 3, NULL, NULL, &err));
    for (uint32_t i = 0; i < n_rows; ++i) {
        const int is_in = expected[i] == 1 && !deleted[i];
        CHECK((int)(bits[i / 32] >> i % 32 & 1) == is_in);
        if (is_in)
            CHECK(next < n && found[next++] == i);
        if (failures > before)
            break;
    }
    CHECK(next == n && count == n);
    if (failures > before)
        printf("... in: %s, %u rows\n", what, n_rows);
}

/* The text of a code. */
static inline row_text decoded(const kr_texts *texts, uint32_t code)
{
    row_text made_of = {0};
    int64_t offsets[2] = {0};
    WORKS(kr_texts_decode(texts, &code, 1, offsets, made_of.bytes, TEXT_MOST, NULL, &err));
    made_of.n = (uint32_t)offsets[1];
    return made_of;
}

/* What a table lends are codes of its dictionary, whose texts are those of the rows. */
static inline void check_lent(kr_table *table, uint32_t c)
{
    static uint32_t codes[N + MORE];
    kr_column lent = {0};
    WORKS(kr_table_column(table, c, NULL, NULL, &lent, &err));
    CHECK(lent.type == KR_U32 && lent.count == n_rows);
    WORKS(kr_memory_copy(device, codes, lent.data, (uint64_t)n_rows * sizeof *codes, NULL, &err));
    for (uint32_t i = 0; i < n_rows; i += 1 + n_rows / 50)
        if (!rows[c][i].is_null) {
            const row_text found = decoded(kr_table_texts(table, c), codes[i]);
            CHECK(!order_of(&found, rows[c] + i));
        }
}

static inline void check_extremes(kr_table *table, const kr_condition *condition, uint32_t c)
{
    const row_text *least = NULL, *most = NULL;
    uint32_t codes[2] = {0};
    uint8_t valid[2] = {0};
    kr_scan_sink sinks[] = {{.struct_size = sizeof *sinks, .result = KR_SCAN_MIN, .column = c},
                            {.struct_size = sizeof *sinks, .result = KR_SCAN_MAX, .column = c}};
    const kr_scan_sink *all[] = {sinks, sinks + 1};
    const kr_condition *conditions[] = {condition, condition};
    for (uint32_t i = 0; i < n_rows; ++i) {
        if (expected[i] != 1 || deleted[i] || rows[c][i].is_null)
            continue;
        least = !least || order_of(rows[c] + i, least) < 0 ? rows[c] + i : least;
        most = !most || order_of(rows[c] + i, most) > 0 ? rows[c] + i : most;
    }
    for (uint32_t s = 0; s < 2; ++s) {
        sinks[s].out = codes + s;
        sinks[s].valid = valid + s;
    }
    WORKS(kr_scan(table, conditions, all, 2, NULL, NULL, &err));
    CHECK(valid[0] == (least != NULL) && valid[1] == (most != NULL));
    if (!least || !valid[0] || !valid[1])
        return;
    const row_text low = decoded(kr_table_texts(table, c), codes[0]);
    const row_text high = decoded(kr_table_texts(table, c), codes[1]);
    CHECK(!order_of(&low, least) && !order_of(&high, most));
}

static inline void check_sums(kr_table *table)
{
    uint64_t out[2] = {0};
    kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_SUM, .out = out};
    const kr_scan_sink *sinks[] = {&sink};
    REFUSED(KR_ERR_TYPE, kr_scan(table, NULL, sinks, 1, NULL, NULL, &err));
    sink.result = KR_SCAN_SUM_WIDE;
    REFUSED(KR_ERR_TYPE, kr_scan(table, NULL, sinks, 1, NULL, NULL, &err));
    sink.column = 1;
    WORKS(kr_scan(table, NULL, sinks, 1, NULL, NULL, &err));
}

/* ---- Conditions ------------------------------------------------------------------------------ */

static inline uint32_t number_of_values(kr_compare compare)
{
    return compare == KR_IN        ? below(VALUES_MOST)
           : compare == KR_IS_NULL ? 0
           : compare == KR_BETWEEN ? 2
           : compare == KR_LIKE    ? 1 + below(2)
                                   : 1;
}

/* An escape for a pattern, which must not end with it: behind an odd one the escape stands once more. */
static inline void make_escape(row_text *pattern, row_text *escape)
{
    static const char *const escapes[] = {"!", "a", "%", "_", "\xC3\xA9"};
    *escape = text_of(escapes[below(5)]);
    escape->is_null = below(20) == 0;
    const int where = below(3) ? (int)below(pattern->n + 1) : -1;
    if (where >= 0 && pattern->n < TEXT_MOST - 8) {
        memmove(pattern->bytes + where + escape->n, pattern->bytes + where, pattern->n - (uint32_t)where);
        memcpy(pattern->bytes + where, escape->bytes, escape->n);
        pattern->n += escape->n;
    }
    uint32_t at = 0;
    while (at < pattern->n) {
        const int is = is_escape(pattern->bytes + at, pattern->n - at, escape);
        at += is ? escape->n : character(pattern->bytes + at, pattern->n - at);
        if (is && at == pattern->n) {
            memcpy(pattern->bytes + at, escape->bytes, escape->n);
            pattern->n += escape->n;
            return;
        }
        at += is ? character(pattern->bytes + at, pattern->n - at) : 0;
    }
}

/* Texts of the table, texts near them, others; patterns that begin as texts do. */
static inline row_text random_value(uint32_t c, kr_compare compare)
{
    row_text value = below(3) ? rows[c][below(n_rows)] : random_text(4);
    value.is_null = below(25) == 0;
    if (compare == KR_LIKE && below(3)) {
        value.n = value.n ? below(value.n + 1) : 0;
        const uint32_t wild = below(4);
        if (wild)
            value.bytes[value.n++] = wild == 3 ? '_' : '%';
        if (below(2) && value.n < TEXT_MOST - 8) {
            const row_text more = text_of(below(2) ? "a%" : "%\xC3\xA9_");
            memcpy(value.bytes + value.n, more.bytes, more.n);
            value.n += more.n;
        }
    }
    return value;
}

static inline kr_condition *structured(uint32_t c, kr_compare compare, const row_text *values, uint32_t n)
{
    kr_condition *condition = NULL;
    make_column(&values_made, (kr_type)(KR_STRING + below(6)), values, n);
    WORKS(kr_condition_compare(names[c], compare, n ? &values_made.column : NULL, &condition, &err));
    return condition;
}

static inline void quote(char *to, const row_text *value)
{
    to += strlen(to);
    if (value->is_null) {
        strcpy(to, "NULL");
        return;
    }
    *to++ = '\'';
    for (uint32_t i = 0; i < value->n; ++i) {
        if (value->bytes[i] == '\'')
            *to++ = '\'';
        *to++ = value->bytes[i];
    }
    strcpy(to, "'");
}

/* "name" compare values, as text; 0: a value has a byte 0. */
static inline int write_condition(char *to, uint32_t c, kr_compare compare, const row_text *values,
                                  uint32_t n)
{
    static const char *const symbols[] = {"",   "<",       "<=", ">",       ">=",  "=",
                                          "<>", "BETWEEN", "IN", "IS NULL", "LIKE"};
    for (uint32_t i = 0; i < n; ++i)
        if (memchr(values[i].bytes, 0, values[i].n))
            return 0;
    sprintf(to, "%s %s %s", names[c], symbols[compare], compare == KR_IN ? "(" : "");
    for (uint32_t i = 0; i < n; ++i) {
        strcat(to, !i ? "" : compare == KR_IN ? ", " : compare == KR_LIKE ? " ESCAPE " : " AND ");
        quote(to, values + i);
    }
    strcat(to, compare == KR_IN ? ")" : "");
    return 1;
}

/* One random comparison, its opposite, and with a number. */
static inline void check_condition(kr_table *table, uint32_t round)
{
    static int plain[N + MORE];
    char what[VALUES_MOST * 2 * TEXT_MOST + 100] = "structured";
    const uint32_t c = below(2) * 2, limit = below(1000);
    const kr_compare compare = (kr_compare)(KR_LESS + below(KR_LIKE));
    const uint32_t n = number_of_values(compare);
    row_text values[VALUES_MOST];
    kr_condition *condition = NULL, *parts[2] = {NULL};
    for (uint32_t i = 0; i < n; ++i)
        values[i] = random_value(c, compare);
    if (compare == KR_LIKE && n == 2)
        make_escape(values, values + 1);
    if (round % 2 && write_condition(what, c, compare, values, n))
        WORKS(kr_condition_parse(what, &parts[0], &err));
    else
        parts[0] = structured(c, compare, values, n);
    for (uint32_t i = 0; i < n_rows; ++i)
        expected[i] = plain[i] = holds(rows[c] + i, compare, values, n);
    check_rows(table, parts[0], what);
    check_extremes(table, parts[0], c);
    WORKS(kr_condition_not(parts[0], &condition, &err));
    for (uint32_t i = 0; i < n_rows; ++i)
        expected[i] = plain[i] < 0 ? -1 : !plain[i];
    check_rows(table, condition, what);
    const kr_column number = {.type = KR_U32, .count = 1, .data = &limit};
    WORKS(kr_condition_compare("number", KR_LESS, &number, &parts[1], &err));
    kr_condition_destroy(condition);
    WORKS(kr_condition_or((const kr_condition *const *)parts, 2, &condition, &err));
    for (uint32_t i = 0; i < n_rows; ++i)
        expected[i] = plain[i] == 1 || numbers[i] < limit;
    check_rows(table, condition, what);
    kr_condition_destroy(condition);
    WORKS(kr_condition_and((const kr_condition *const *)parts, 2, &condition, &err));
    for (uint32_t i = 0; i < n_rows; ++i)
        expected[i] = plain[i] == 1 && numbers[i] < limit;
    check_rows(table, condition, what);
    kr_condition_destroy(condition);
    kr_condition_destroy(parts[1]);
    kr_condition_destroy(parts[0]);
}

static inline void check_table(kr_table *table, uint32_t rounds)
{
    kr_table_info info = {.struct_size = sizeof info};
    WORKS(kr_table_query(table, &info, &err));
    CHECK(info.rows == n_rows);
    WORKS(kr_table_validate(table, &err));
    for (uint32_t round = 0; round < rounds; ++round)
        check_condition(table, round);
    check_lent(table, 0);
    check_lent(table, 2);
    check_sums(table);
}

/* ---- Appends and deletes ----------------------------------------------------------------------- */

static inline void append(kr_table *table, uint32_t n, kr_type type, kr_status want)
{
    kr_column columns[COLUMNS];
    kr_error err = {0};
    describe(type, n_rows, n, columns);
    const kr_status got = kr_table_append(table, columns, COLUMNS, NULL, &err);
    CHECK(got == want);
    if (got != want)
        printf("%s: %s\n", kr_status_name(got), err.text);
    n_rows += got == KR_OK ? n : 0;
    memset(made, 0xEE, sizeof made);
}

/* ---- Files ------------------------------------------------------------------------------------- */

static inline void check_saved(kr_table *table)
{
    char path[64];
    kr_saved *saved = NULL;
    kr_table *loaded = NULL;
    int has_texts = -1;
    kr_type type = (kr_type)0;
    snprintf(path, sizeof path, "text-tables-%ld.krx", (long)getpid());
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_saved_column(saved, 0, NULL, &type, NULL, &has_texts, &err));
    CHECK(has_texts == 2 && type == KR_U32);
    WORKS(kr_saved_column(saved, 1, NULL, NULL, NULL, &has_texts, &err));
    CHECK(has_texts == 0);
    const kr_texts *none[COLUMNS] = {NULL};
    const kr_table_options wrong = {.struct_size = sizeof wrong, .texts = none};
    REFUSED(KR_ERR_ARGUMENT, kr_table_load(device, saved, &wrong, NULL, &loaded, &err));
    WORKS(kr_table_load(device, saved, NULL, NULL, &loaded, &err));
    kr_saved_close(saved);
    remove(path);
    if (!loaded)
        return;
    check_table(loaded, 10);
    make_rows(n_rows, 50, 9);
    const uint32_t before = n_rows;
    append(loaded, 50, KR_STRING, KR_OK); /* its dictionary is its own */
    check_table(loaded, 6);
    n_rows = before;
    kr_table_destroy(loaded);
}

static inline void refuse_condition(kr_table *table, const char *where, kr_status want)
{
    kr_condition *condition = NULL;
    char text[512];
    WORKS(kr_condition_parse(where, &condition, &err));
    REFUSED(want, kr_scan_explain(table, condition, text, sizeof text, &err));
    kr_condition_destroy(condition);
}

#endif
