/* Random conditions on random tables: the rows that SQLite selects are the rows of a scan. */
#include "device_name.h"
#include "random.h"

#include <keyray/keyray.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

enum { COLUMNS = 13, ROWS_MOST = 6000, TEXT_NBYTES = 1 << 16, TABLES = 6, CONDITIONS = 100 };

/* u64 without the values that SQLite has no integer for. Dates and times are integers to SQLite. */
static const struct column {
    const char *name;
    kr_type type;
} shape[COLUMNS] = {
    {"a", KR_U8},  {"b", KR_I8},          {"c", KR_U16},    {"d", KR_I16}, {"e", KR_U32},
    {"f", KR_I32}, {"g", KR_U64},         {"h", KR_I64},    {"i", KR_F32}, {"j", KR_F64},
    {"k", KR_I32}, {"l", KR_TIMESTAMP64}, {"m", KR_STRING},
};

typedef struct table {
    kr_column columns[COLUMNS];
    void *data[COLUMNS];
    uint8_t *validity[COLUMNS];
    char *bytes; /* of the texts, whose offsets are their data */
    uint64_t n;
    sqlite3 *sqlite;
    kr_table *scanned;
    int is_clustered; /* values ascend, but for one of each 1024 */
} table;

/* Few values, so that comparisons meet them; some at the limits of the type. */
static int64_t integer_of(kr_rng *rng, kr_type type)
{
    static const int64_t lowest[] = {
        [KR_U8] = 0,          [KR_I8] = INT8_MIN,   [KR_U16] = 0,
        [KR_I16] = INT16_MIN, [KR_U32] = 0,         [KR_I32] = INT32_MIN,
        [KR_U64] = 0,         [KR_I64] = INT64_MIN, [KR_TIMESTAMP64] = INT64_MIN};
    static const int64_t highest[] = {
        [KR_U8] = UINT8_MAX,  [KR_I8] = INT8_MAX,    [KR_U16] = UINT16_MAX,
        [KR_I16] = INT16_MAX, [KR_U32] = UINT32_MAX, [KR_I32] = INT32_MAX,
        [KR_U64] = INT64_MAX, [KR_I64] = INT64_MAX,  [KR_TIMESTAMP64] = INT64_MAX};
    switch (kr_rng_below(rng, 20)) {
    case 0: return lowest[type];
    case 1: return highest[type];
    case 2: return highest[type] - (int64_t)kr_rng_below(rng, 3);
    default: return (int64_t)kr_rng_below(rng, 20) - (lowest[type] ? 10 : 0);
    }
}

static double real_of(kr_rng *rng)
{
    static const double odd[] = {0.0, -0.0, 1e300, -1e300, 1e-300, 0.1, 16777217.0, 9007199254740993.0};
    if (kr_rng_below(rng, 4) == 0)
        return odd[kr_rng_below(rng, 8)];
    return ((double)kr_rng_below(rng, 40) - 20) / 4;
}

static void store(kr_type type, void *data, uint64_t i, int64_t integer, double real)
{
    switch (type) {
    case KR_F32: ((float *)data)[i] = (float)real; break;
    case KR_F64: ((double *)data)[i] = real; break;
    default: memcpy((char *)data + i * kr_type_nbytes(type), &integer, kr_type_nbytes(type));
    }
}

/* Few letters, so that texts begin alike and patterns nearly match; also characters of two bytes, and what
 * patterns and literals are made of. */
enum { TEXT_PARTS = 6, TEXT_MOST = 25 * TEXT_PARTS };
static uint32_t text_of(kr_rng *rng, int is_pattern, char *text)
{
    static const char *const parts[] = {"a", "b", "a", "\xC3\xA9", "B", "https://www.example.com/",
                                        "'", "!", "%", "_",        "%", "_"};
    uint32_t n = 0;
    for (uint64_t left = kr_rng_below(rng, TEXT_PARTS + 1); left; --left) {
        const char *part = parts[kr_rng_below(rng, is_pattern ? 12 : kr_rng_below(rng, 8) ? 4 : 10)];
        memcpy(text + n, part, strlen(part));
        n += (uint32_t)strlen(part);
    }
    return n;
}

static void store_text(kr_rng *rng, char *bytes, int32_t *offsets, uint64_t i)
{
    offsets[i + 1] = offsets[i] + (int32_t)text_of(rng, 0, bytes + offsets[i]);
}

static void run_sql(sqlite3 *sqlite, const char *text)
{
    char *message = NULL;
    if (sqlite3_exec(sqlite, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
}

static void bind(sqlite3_stmt *insert, const table *t, uint32_t c, uint64_t i, int64_t integer)
{
    const int at = (int)c + 1;
    if (!(t->validity[c][(i + 3) / 8] >> ((i + 3) % 8) & 1))
        sqlite3_bind_null(insert, at);
    else if (shape[c].type == KR_STRING)
        sqlite3_bind_text(insert, at, t->bytes + ((int32_t *)t->data[c])[i],
                          ((int32_t *)t->data[c])[i + 1] - ((int32_t *)t->data[c])[i], SQLITE_TRANSIENT);
    else if (shape[c].type == KR_F32)
        sqlite3_bind_double(insert, at, (double)((float *)t->data[c])[i]);
    else if (shape[c].type == KR_F64)
        sqlite3_bind_double(insert, at, ((double *)t->data[c])[i]);
    else
        sqlite3_bind_int64(insert, at, integer);
}

/* A third of the columns has no NULLs. Validity begins at bit 3. */
static void fill(table *t, kr_rng *rng)
{
    sqlite3_stmt *insert = NULL;
    run_sql(t->sqlite, "create table t(a,b,c,d,e,f,g,h,i,j,k,l,m)");
    sqlite3_prepare_v2(t->sqlite, "insert into t values(?,?,?,?,?,?,?,?,?,?,?,?,?)", -1, &insert, NULL);
    run_sql(t->sqlite, "begin");
    for (uint64_t i = 0; i < t->n; ++i) {
        for (uint32_t c = 0; c < COLUMNS; ++c) {
            const int is_integer = shape[c].type < KR_F32 || shape[c].type == KR_TIMESTAMP64;
            const int64_t integer = is_integer ? integer_of(rng, shape[c].type) : 0;
            if (shape[c].type == KR_STRING)
                store_text(rng, t->bytes, t->data[c], i);
            else
                store(shape[c].type, t->data[c], i, integer,
                      t->is_clustered ? (double)(i / 256) : real_of(rng));
            if (c % 3 == 0 || kr_rng_below(rng, 6))
                t->validity[c][(i + 3) / 8] |= (uint8_t)(1 << (i + 3) % 8);
            bind(insert, t, c, i, integer);
        }
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    run_sql(t->sqlite, "commit");
}

static void open_table(table *t, kr_rng *rng, kr_device *device, const char *spec, uint64_t n)
{
    const char *names[COLUMNS];
    kr_error err = {0};
    memset(t, 0, sizeof *t);
    t->n = n;
    t->is_clustered = kr_rng_below(rng, 2) == 0;
    assert_int_equal(sqlite3_open(":memory:", &t->sqlite), SQLITE_OK);
    run_sql(t->sqlite, "pragma case_sensitive_like = on");
    t->bytes = malloc(n * TEXT_MOST + 1);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        t->data[c] = calloc(n + 1, 8);
        t->validity[c] = calloc(n / 8 + 2, 1);
        names[c] = shape[c].name;
    }
    fill(t, rng);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        t->columns[c] = (kr_column){.type = shape[c].type,
                                    .count = n,
                                    .data = t->data[c],
                                    .validity = c % 3 == 0 ? NULL : t->validity[c],
                                    .validity_offset = c % 3 == 0 ? 0 : 3};
    t->columns[COLUMNS - 1].reserved_words[0] = (uintptr_t)t->bytes;
    t->columns[COLUMNS - 1].reserved_words[1] = (uint64_t)((int32_t *)t->data[COLUMNS - 1])[n];
    const kr_status status =
        kr_table_create(device, spec, t->columns, names, COLUMNS, NULL, NULL, &t->scanned, &err);
    if (status == KR_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    if (status != KR_OK)
        fail_msg("%s: %s", spec, err.text);
}

static void close_table(table *t)
{
    kr_table_destroy(t->scanned);
    sqlite3_close(t->sqlite);
    free(t->bytes);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        free(t->validity[c]);
        free(t->data[c]);
    }
}

/* ---- Conditions ------------------------------------------------------------------------------ */

typedef struct writer {
    kr_rng *rng;
    char *text;
    size_t n;
    int columns;     /* 1: columns are compared with columns, too */
    uint32_t masked; /* bit c: no comparison of column c with values; not all */
} writer;

static void put(writer *w, const char *text)
{
    const size_t n = strlen(text);
    assert_true(w->n + n < TEXT_NBYTES);
    memcpy(w->text + w->n, text, n + 1);
    w->n += n;
}

/* In quotes, with those of the text written twice. */
static void put_text(writer *w, int is_pattern)
{
    char text[TEXT_MOST], quoted[2 * TEXT_MOST + 3] = "'";
    const uint32_t n = text_of(w->rng, is_pattern, text);
    size_t at = 1;
    for (uint32_t i = 0; i < n; ++i) {
        quoted[at++] = text[i];
        if (text[i] == '\'')
            quoted[at++] = '\'';
    }
    quoted[at++] = '\'';
    quoted[at] = 0;
    put(w, kr_rng_below(w->rng, 24) ? quoted : "NULL");
}

/* A pattern must not end with its escape, which SQLite allows: behind it stands %. */
static void put_like(writer *w, const char *name)
{
    const int has_escape = kr_rng_below(w->rng, 3) == 0;
    put(w, name);
    put(w, kr_rng_below(w->rng, 2) ? " like " : " NOT LIKE ");
    put_text(w, 1);
    if (has_escape && w->text[w->n - 1] == '\'') {
        w->text[--w->n] = 0;
        put(w, "%'");
    }
    put(w, has_escape ? " escape '!'" : "");
}

static void put_value(writer *w, kr_type type)
{
    char text[64];
    if (type == KR_STRING) {
        put_text(w, 0);
        return;
    }
    const uint64_t which = kr_rng_below(w->rng, 24);
    const int is_real = type == KR_F32 || type == KR_F64;
    if (which == 0)
        snprintf(text, sizeof text, "NULL");
    else if (which == 1)
        snprintf(text, sizeof text, "%s",
                 kr_rng_below(w->rng, 2) ? "9223372036854775807" : "-9223372036854775808");
    else if (which == 2)
        snprintf(text, sizeof text, "%d", (int)kr_rng_below(w->rng, 100000) - 50000);
    else if (which == 3 && is_real)
        snprintf(text, sizeof text, "9007199254740993");
    else if (is_real && which < 16)
        snprintf(text, sizeof text, "%.17g%s", real_of(w->rng), "");
    else
        snprintf(text, sizeof text, "%lld", (long long)integer_of(w->rng, is_real ? KR_I8 : type));
    put(w, text);
}

static void put_list(writer *w, kr_type type)
{
    const uint64_t n = kr_rng_below(w->rng, 12) ? kr_rng_below(w->rng, 6) : kr_rng_below(w->rng, 100);
    put(w, "(");
    for (uint64_t i = 0; i < n; ++i) {
        put(w, i ? ", " : "");
        put_value(w, type);
    }
    put(w, ")");
}

static void put_comparison(writer *w)
{
    static const char *const symbols[] = {" < ", "<=", " > ", ">= ", "=", " <>", "==", "!="};
    const char *symbol = symbols[kr_rng_below(w->rng, 8)];
    uint64_t at = kr_rng_below(w->rng, COLUMNS);
    while (w->masked >> at & 1)
        at = (at + 1) % COLUMNS;
    const struct column *c = &shape[at];
    if (c->type == KR_STRING && kr_rng_below(w->rng, 2)) {
        put_like(w, c->name);
        return;
    }
    switch (kr_rng_below(w->rng, 8)) {
    case 0:
        put(w, c->name);
        put(w, kr_rng_below(w->rng, 2) ? " is null" : " IS NOT NULL");
        return;
    case 1:
        put(w, c->name);
        put(w, kr_rng_below(w->rng, 2) ? " between " : " not between ");
        put_value(w, c->type);
        put(w, " and ");
        put_value(w, c->type);
        return;
    case 2:
        put(w, c->name);
        put(w, kr_rng_below(w->rng, 2) ? " in " : " not in ");
        put_list(w, c->type);
        return;
    case 3:
        put_value(w, c->type);
        put(w, symbol);
        put(w, c->name);
        return;
    case 4:
        if (w->columns) {
            put(w, kr_rng_below(w->rng, 2) ? "f" : "k");
            put(w, symbol);
            put(w, kr_rng_below(w->rng, 2) ? "f" : "k");
            return;
        }
        /* fall through */
    default:
        put(w, c->name);
        put(w, symbol);
        put_value(w, c->type);
    }
}

static void put_condition(writer *w, uint32_t depth)
{
    const uint64_t which = kr_rng_below(w->rng, 10);
    if (depth == 0 || which < 2) {
        if (kr_rng_below(w->rng, 30))
            put_comparison(w);
        else
            put(w, kr_rng_below(w->rng, 2) ? "true" : "false");
        return;
    }
    if (which < 4) {
        put(w, "not (");
        put_condition(w, depth - 1);
        put(w, ")");
        return;
    }
    const uint64_t n = 2 + kr_rng_below(w->rng, 3);
    for (uint64_t i = 0; i < n; ++i) {
        const int open = kr_rng_below(w->rng, 2) == 0;
        put(w, !i ? "" : kr_rng_below(w->rng, 2) ? " and " : " OR ");
        put(w, open ? "(" : "");
        put_condition(w, depth - 1);
        put(w, open ? ")" : "");
    }
}

/* ---- Comparison ------------------------------------------------------------------------------ */

/* Row ids of `select rowid`, ascending, less 1. */
static uint64_t select_rows(const table *t, const char *where, uint32_t *rows)
{
    sqlite3_stmt *select = NULL;
    char *text = sqlite3_mprintf("select rowid from t where %s order by rowid", where);
    uint64_t n = 0;
    if (sqlite3_prepare_v2(t->sqlite, text, -1, &select, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sqlite3_errmsg(t->sqlite), text);
    while (sqlite3_step(select) == SQLITE_ROW)
        rows[n++] = (uint32_t)sqlite3_column_int64(select, 0) - 1;
    sqlite3_finalize(select);
    sqlite3_free(text);
    return n;
}

static void compare(const table *t, const char *where)
{
    static uint32_t want[ROWS_MOST], got[ROWS_MOST], bitmap[ROWS_MOST / 32 + 1];
    kr_condition *condition = NULL;
    kr_error err = {0};
    uint64_t n = UINT64_MAX;
    const uint64_t n_want = select_rows(t, where, want);
    if (kr_condition_parse(where, &condition, &err) != KR_OK)
        fail_msg("%s\n%s", err.text, where);
    const kr_scan_sink rows = {sizeof rows, KR_SCAN_ROWS, 0, &n, NULL, got, ROWS_MOST};
    const kr_scan_sink bits = {sizeof bits, KR_SCAN_BITMAP, 0, bitmap, NULL, NULL, 0};
    const kr_scan_sink *sinks[] = {&rows, &bits};
    for (int i = 0; i < 2; ++i)
        if (kr_scan(t->scanned, (const kr_condition *const[]){condition}, &sinks[i], 1, NULL, NULL, &err) !=
            KR_OK)
            fail_msg("%s\n%s", err.text, where);
    if (n != n_want || memcmp(want, got, n * sizeof *want))
        fail_msg("%llu rows, SQLite has %llu: %s", (unsigned long long)n, (unsigned long long)n_want, where);
    uint64_t seen = 0;
    for (uint64_t i = 0; i < (t->n + 31) / 32 * 32; ++i)
        if (bitmap[i / 32] >> (i % 32) & 1)
            assert_true(seen < n && i == want[seen++]);
    assert_int_equal(seen, n);
    kr_condition_destroy(condition);
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Comparisons of one to four columns, as a dashboard has them. */
static void put_conjunction(writer *w, const uint32_t columns[4])
{
    const uint64_t n = 1 + kr_rng_below(w->rng, 4);
    for (uint64_t i = 0; i < n; ++i) {
        const struct column *c = &shape[columns[i]];
        put(w, i ? " and " : "");
        put(w, c->name);
        if (kr_rng_below(w->rng, 3) == 0) {
            put(w, " between ");
            put_value(w, c->type);
            put(w, " and ");
        } else {
            put(w, kr_rng_below(w->rng, 2) ? " < " : " >= ");
        }
        put_value(w, c->type);
    }
}

enum { BATCH_MOST = 200, BATCH_TEXT = 1 << 14 };
static char texts[BATCH_MOST][TEXT_NBYTES];

static uint32_t all_but(kr_rng *rng, uint64_t n)
{
    uint32_t masked = 0;
    for (uint64_t left = COLUMNS - n; left;) {
        const uint32_t bit = (uint32_t)1 << kr_rng_below(rng, COLUMNS);
        left -= !(masked & bit);
        masked |= bit;
    }
    return masked;
}

/* Whole conditions on one to twelve columns, or conjunctions. */
static void write_batch(kr_rng *rng, uint32_t n, int columns, int whole)
{
    const uint32_t of[4] = {(uint32_t)kr_rng_below(rng, 3), 3 + (uint32_t)kr_rng_below(rng, 3),
                            6 + (uint32_t)kr_rng_below(rng, 3), 9 + (uint32_t)kr_rng_below(rng, 4)};
    const uint32_t masked = all_but(rng, 1 + kr_rng_below(rng, COLUMNS));
    for (uint32_t i = 0; i < n; ++i) {
        writer w = {rng, texts[i], BATCH_TEXT, columns, masked};
        while (w.n >= BATCH_TEXT) {
            w.n = 0;
            if (whole)
                put_condition(&w, (uint32_t)kr_rng_below(rng, 4));
            else
                put_conjunction(&w, of);
        }
    }
}

static void compare_count(const table *t, const char *text, const uint32_t *alive, uint64_t count)
{
    static uint32_t want[ROWS_MOST];
    const uint64_t n = select_rows(t, text, want);
    uint64_t n_alive = 0;
    for (uint64_t k = 0; k < n; ++k)
        n_alive += !alive || (alive[want[k] / 32] >> (want[k] % 32) & 1);
    if (count != n_alive)
        fail_msg("%llu rows of a batch, SQLite has %llu: %s", (unsigned long long)count,
                 (unsigned long long)n_alive, text);
}

/* All at once; in every second batch a quarter of the rows is dead. */
static void compare_batch(const table *t, kr_rng *rng, uint32_t n)
{
    static uint32_t alive[ROWS_MOST / 32 + 1];
    kr_condition *conditions[BATCH_MOST] = {NULL};
    uint64_t counts[BATCH_MOST];
    kr_scan_sink sinks[BATCH_MOST];
    const kr_scan_sink *pointers[BATCH_MOST] = {NULL};
    const kr_scan_options options = {.struct_size = sizeof options,
                                     .alive = kr_rng_below(rng, 2) ? alive : NULL};
    kr_error err = {0};
    for (uint64_t i = 0; i < ROWS_MOST / 32 + 1; ++i)
        alive[i] = (uint32_t)(kr_rng_next(rng) | kr_rng_next(rng));
    for (uint32_t i = 0; i < n; ++i) {
        if (kr_condition_parse(texts[i], &conditions[i], &err) != KR_OK)
            fail_msg("%s\n%s", err.text, texts[i]);
        sinks[i] = (kr_scan_sink){.struct_size = sizeof *sinks, .result = KR_SCAN_COUNT, .out = &counts[i]};
        pointers[i] = &sinks[i];
    }
    if (kr_scan(t->scanned, (const kr_condition *const *)conditions, pointers, n, &options, NULL, &err) !=
        KR_OK)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < n; ++i) {
        compare_count(t, texts[i], options.alive, counts[i]);
        kr_condition_destroy(conditions[i]);
    }
}

static void agrees(void **state)
{
    static char text[TEXT_NBYTES];
    static const uint32_t sizes[] = {1, 63, 200, 2, 64, 65};
    kr_rng rng = {15};
    const char *spec = *state;
    kr_device *device = NULL;
    assert_int_equal(kr_device_open(device_name, NULL, &device, NULL), KR_OK);
    for (uint32_t i = 0; i < TABLES; ++i) {
        table t;
        open_table(&t, &rng, device, spec,
                   i == 0   ? 1
                   : i == 1 ? 1024
                            : 1 + kr_rng_below(&rng, ROWS_MOST - 1));
        for (uint32_t c = 0; c < CONDITIONS; ++c) {
            writer w = {&rng, text, 0, strchr("fb", spec[0]) != NULL, 0};
            put_condition(&w, (uint32_t)kr_rng_below(&rng, 5));
            compare(&t, text);
        }
        for (uint32_t b = 0; b < 3; ++b) {
            const uint32_t n = sizes[(i + b) % 6];
            write_batch(&rng, n, strchr("fb", spec[0]) != NULL, b < 2);
            compare_batch(&t, &rng, n);
        }
        assert_int_equal(kr_table_validate(t.scanned, NULL), KR_OK);
        close_table(&t);
    }
    kr_device_close(device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(agrees, "full"),
        cmocka_unit_test_prestate(agrees, "full:logic=branching"),
        cmocka_unit_test_prestate(agrees, "full:logic=and,zones=off"),
        cmocka_unit_test_prestate(agrees, "full:narrow=on"),
        cmocka_unit_test_prestate(agrees, "full:narrow=off"),
        cmocka_unit_test_prestate(agrees, "full:narrow=on,zones=off,logic=branching"),
        cmocka_unit_test_prestate(agrees, "bindex"),
        cmocka_unit_test_prestate(agrees, "bindex:vectors=2"),
        cmocka_unit_test_prestate(agrees, "bindex:vectors=256"),
        cmocka_unit_test_prestate(agrees, "bindex:refine=scatter"),
        cmocka_unit_test_prestate(agrees, "bindex:refine=scatter,vectors=5"),
        cmocka_unit_test_prestate(agrees, "rtc1:rays=500"),
        cmocka_unit_test_prestate(agrees, "rtc3:rays=20"),
        cmocka_unit_test_prestate(agrees, "rtc3:rays=7,interval=0.3"),
        cmocka_unit_test_prestate(agrees, "rtscan"),
        cmocka_unit_test_prestate(agrees, "rtscan:pack=3"),
        cmocka_unit_test_prestate(agrees, "rtscan:vectors=4,selection=positive,along=last"),
        cmocka_unit_test_prestate(agrees, "rtscan:encode=off,vectors=16"),
        cmocka_unit_test_prestate(agrees, "rtscan:preset=paper"),
        cmocka_unit_test_prestate(agrees, "rtscan:prim=sphere"),
        cmocka_unit_test_prestate(agrees, "rtscan:preset=paper,prim=triangle"),
        cmocka_unit_test_prestate(
            agrees, "rtscan:groups=l+a,b+c+j,vectors=8,interval=0.5,spacing=0.2,length=1.5,parts=3"),
    };
    const int skipped = take_device_name(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
