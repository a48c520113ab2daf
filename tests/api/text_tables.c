/* Tables with columns of texts: every comparison, on every kind of scan, against memcmp and a plain matcher
 * of LIKE; what results, appends, deletes, files, prepared scans and shared dictionaries do with texts. */
#include "text_tables.h"
#include "device_name.h"

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

static void make_rows(uint32_t first, uint32_t n, uint32_t longest)
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

static void describe(kr_type type, uint32_t first, uint32_t n, kr_column columns[COLUMNS])
{
    make_column(&made[0], type, rows[0] + first, n);
    make_column(&made[2], type == KR_STRING ? KR_BINARY_VIEW : KR_LARGE_STRING, rows[2] + first, n);
    columns[0] = made[0].column;
    columns[1] = (kr_column){.type = KR_U32, .count = n, .data = numbers + first};
    columns[2] = made[2].column;
}

/* NULL: the kind does not run here. */
static kr_table *create(const char *spec, kr_type type, const kr_table_options *options)
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

static int is_unsupported(const kr_table *table, const kr_condition *condition)
{
    char text[4096];
    return kr_scan_explain(table, condition, text, sizeof text, NULL) == KR_ERR_UNSUPPORTED;
}

/* ---- Scans ----------------------------------------------------------------------------------- */

/* What each row is expected to be: 1, 0 or -1, as `holds` says. */
static int expected[N + MORE];

static void check_rows(kr_table *table, const kr_condition *condition, const char *what)
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
static row_text decoded(const kr_texts *texts, uint32_t code)
{
    row_text made_of = {0};
    int64_t offsets[2] = {0};
    WORKS(kr_texts_decode(texts, &code, 1, offsets, made_of.bytes, TEXT_MOST, NULL, &err));
    made_of.n = (uint32_t)offsets[1];
    return made_of;
}

static void check_extremes(kr_table *table, const kr_condition *condition, uint32_t c)
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

static void check_sums(kr_table *table)
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

static uint32_t number_of_values(kr_compare compare)
{
    return compare == KR_IN ? below(VALUES_MOST) : compare == KR_IS_NULL ? 0 : compare == KR_BETWEEN ? 2 : 1;
}

/* Texts of the table, texts near them, others; patterns that begin as texts do. */
static row_text random_value(uint32_t c, kr_compare compare)
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

static kr_condition *structured(uint32_t c, kr_compare compare, const row_text *values, uint32_t n)
{
    kr_condition *condition = NULL;
    make_column(&values_made, (kr_type)(KR_STRING + below(6)), values, n);
    WORKS(kr_condition_compare(names[c], compare, n ? &values_made.column : NULL, &condition, &err));
    return condition;
}

static void quote(char *to, const row_text *value)
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
static int write_condition(char *to, uint32_t c, kr_compare compare, const row_text *values, uint32_t n)
{
    static const char *const symbols[] = {"",   "<",       "<=", ">",       ">=",  "=",
                                          "<>", "BETWEEN", "IN", "IS NULL", "LIKE"};
    for (uint32_t i = 0; i < n; ++i)
        if (memchr(values[i].bytes, 0, values[i].n))
            return 0;
    sprintf(to, "%s %s %s", names[c], symbols[compare], compare == KR_IN ? "(" : "");
    for (uint32_t i = 0; i < n; ++i) {
        strcat(to, i ? (compare == KR_IN ? ", " : " AND ") : "");
        quote(to, values + i);
    }
    strcat(to, compare == KR_IN ? ")" : "");
    return 1;
}

/* One random comparison, its opposite, and with a number. */
static void check_condition(kr_table *table, uint32_t round)
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

static void check_table(kr_table *table, uint32_t rounds)
{
    kr_table_info info = {.struct_size = sizeof info};
    WORKS(kr_table_query(table, &info, &err));
    CHECK(info.rows == n_rows);
    WORKS(kr_table_validate(table, &err));
    for (uint32_t round = 0; round < rounds; ++round)
        check_condition(table, round);
    check_sums(table);
}

/* ---- Appends and deletes ----------------------------------------------------------------------- */

static void append(kr_table *table, uint32_t n, kr_type type, kr_status want)
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

static void delete_some(kr_table *table)
{
    kr_condition *condition = NULL;
    uint64_t n = 0, want = 0;
    WORKS(kr_condition_parse("name like 'a%' or url like '%b'", &condition, &err));
    for (uint32_t i = 0; i < n_rows; ++i) {
        const row_text *name = rows[0] + i, *url = rows[2] + i;
        const int is_a = !name->is_null && name->n && name->bytes[0] == 'a';
        const int is_b = !url->is_null && url->n && url->bytes[url->n - 1] == 'b';
        want += !deleted[i] && (is_a || is_b);
        deleted[i] |= is_a || is_b;
    }
    WORKS(kr_table_delete_where(table, condition, NULL, &n, &err));
    CHECK(n == want);
    kr_condition_destroy(condition);
}

/* Texts that are there, new ones behind all others, between them and before them. */
static void check_changes(kr_table *table)
{
    const kr_texts *before = kr_table_texts(table, 0);
    for (uint32_t i = n_rows; i < n_rows + 100; ++i) { /* no new text: the dictionary stays */
        for (uint32_t c = 0; c < COLUMNS; c += 2)
            rows[c][i] = rows[c][below(n_rows)];
        numbers[i] = below(1000);
        deleted[i] = 0;
    }
    append(table, 100, KR_STRING_VIEW, KR_OK);
    CHECK(kr_table_texts(table, 0) == before);
    check_table(table, 6);
    make_rows(n_rows, 100, 9);
    append(table, 100, KR_STRING, KR_OK);
    check_table(table, 12);
    delete_some(table);
    check_table(table, 6);
    make_rows(n_rows, 200, 9);
    append(table, 200, KR_LARGE_BINARY, KR_OK);
    check_table(table, 12);
}

/* Broken rows, other types: nothing is appended. */
static void check_refused_appends(kr_table *table)
{
    kr_column columns[COLUMNS];
    make_rows(n_rows, 10, 5);
    describe(KR_STRING, n_rows, 10, columns);
    made[0].near[3] = 1 << 20;
    REFUSED(KR_ERR_ARGUMENT, kr_table_append(table, columns, COLUMNS, NULL, &err));
    describe(KR_STRING, n_rows, 10, columns);
    columns[0] = columns[1]; /* numbers for texts */
    REFUSED(KR_ERR_TYPE, kr_table_append(table, columns, COLUMNS, NULL, &err));
    describe(KR_STRING, n_rows, 10, columns);
    columns[1] = columns[0]; /* texts for numbers */
    REFUSED(KR_ERR_TYPE, kr_table_append(table, columns, COLUMNS, NULL, &err));
    check_table(table, 2);
}

/* ---- Files ------------------------------------------------------------------------------------- */

static void check_saved(kr_table *table)
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

/* ---- Explanations and wrong conditions ----------------------------------------------------------- */

static void check_explained(kr_table *table)
{
    static const char *const wheres[] = {"name >= 'a' and name < 'b'", "name like 'a%'",
                                         "url = 'https://shop.example.com/'"};
    char text[4096];
    for (uint32_t i = 0; i < 3; ++i) {
        kr_condition *condition = NULL;
        WORKS(kr_condition_parse(wheres[i], &condition, &err));
        WORKS(kr_scan_explain(table, condition, text, sizeof text, &err));
        CHECK(strstr(text, i < 2 ? "codes of name: " : "codes of url: ") != NULL);
        CHECK(strstr(text, i < 2 ? "'a" : "'https://shop.example.com/'") != NULL);
        kr_condition_destroy(condition);
    }
}

static void refuse_condition(kr_table *table, const char *where, kr_status want)
{
    kr_condition *condition = NULL;
    char text[512];
    WORKS(kr_condition_parse(where, &condition, &err));
    REFUSED(want, kr_scan_explain(table, condition, text, sizeof text, &err));
    kr_condition_destroy(condition);
}

static void check_refused_conditions(kr_table *table)
{
    const uint32_t number = 7;
    const kr_column pattern = {.type = KR_U32, .count = 1, .data = &number};
    kr_condition *condition = NULL;
    refuse_condition(table, "name = 5", KR_ERR_TYPE);
    refuse_condition(table, "number = 'a'", KR_ERR_TYPE);
    refuse_condition(table, "number like 'a%'", KR_ERR_TYPE);
    refuse_condition(table, "name like 5", KR_ERR_TYPE);
    refuse_condition(table, "name = url", KR_ERR_TYPE); /* two dictionaries */
    refuse_condition(table, "name = number", KR_ERR_TYPE);
    REFUSED(KR_ERR_TYPE, kr_condition_compare("name", KR_LIKE, &pattern, &condition, &err));
    REFUSED(KR_ERR_FORMAT, kr_condition_parse("name not like", &condition, &err));
    make_column(&values_made, KR_STRING, rows[0], 2);
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare("name", KR_LIKE, &values_made.column, &condition, &err));
    values_made.near[1] = 1 << 20;
    REFUSED(KR_ERR_ARGUMENT, kr_condition_compare("name", KR_IN, &values_made.column, &condition, &err));
}

/* ---- Prepared scans ------------------------------------------------------------------------------ */

static void check_prepared(kr_table *table)
{
    kr_condition *condition = NULL;
    kr_prepared *prepared = NULL;
    uint64_t want = 0, result = 0, *out = NULL;
    WORKS(kr_condition_parse("name like 'a%' or url >= 'b' and name <> 'c'", &condition, &err));
    const kr_condition *conditions[] = {condition};
    kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &want};
    const kr_scan_sink *sinks[] = {&sink};
    WORKS(kr_scan(table, conditions, sinks, 1, NULL, NULL, &err));
    WORKS(kr_memory_allocate(device, sizeof *out, NULL, (void **)&out, &err));
    sink.out = out;
    WORKS(kr_prepare_scan(table, conditions, sinks, 1, NULL, &prepared, &err));
    kr_condition_destroy(condition); /* it was read */
    for (int run = 0; run < 3; ++run) {
        WORKS(kr_prepared_run(prepared, NULL, &err));
        WORKS(kr_memory_copy(device, &result, out, sizeof result, NULL, &err));
        CHECK(result == want);
    }
    kr_prepared_destroy(prepared);
    kr_memory_release(device, out, sizeof *out, NULL);
}

/* ---- Shared dictionaries ------------------------------------------------------------------------- */

/* Of the texts of both columns, so that these can be compared. */
static kr_texts *make_dictionary(const char *spec)
{
    static row_text both[2 * 600];
    kr_texts *texts = NULL;
    memcpy(both, rows[0], 600 * sizeof *both);
    memcpy(both + 600, rows[2], 600 * sizeof *both);
    make_column(&values_made, KR_STRING, both, 1200);
    WORKS(kr_texts_create(device, &values_made.column, spec, NULL, &texts, &err));
    return texts;
}

static void check_columns(kr_table *table, kr_compare compare)
{
    kr_condition *condition = NULL;
    WORKS(kr_condition_compare_columns("name", compare, "url", &condition, &err));
    for (uint32_t i = 0; i < n_rows; ++i)
        expected[i] = rows[2][i].is_null ? -1 : holds(rows[0] + i, compare, rows[2] + i, 1);
    if (!is_unsupported(table, condition))
        check_rows(table, condition, "columns");
    kr_condition_destroy(condition);
}

static void check_shared_changes(kr_table *table)
{
    const kr_texts *before = kr_table_texts(table, 0);
    rows[0][n_rows] = text_of("no text of the dictionary");
    rows[2][n_rows] = rows[2][0];
    append(table, 1, KR_STRING, KR_ERR_ARGUMENT);
    check_table(table, 2);
    rows[0][n_rows] = rows[2][1];
    append(table, 1, KR_STRING, KR_OK);
    CHECK(kr_table_texts(table, 0) == before);
    check_table(table, 4);
}

static void check_shared(const char *spec)
{
    n_rows = 600;
    kr_texts *texts = make_dictionary("ranges=on");
    const kr_texts *all[] = {texts, NULL, texts};
    const kr_table_options options = {.struct_size = sizeof options, .texts = all};
    kr_table *table = create(spec, KR_STRING, &options);
    if (table) {
        CHECK(kr_table_texts(table, 0) == texts && kr_table_texts(table, 2) == texts &&
              !kr_table_texts(table, 1) && !kr_table_texts(table, 3));
        check_table(table, 10);
        for (kr_compare compare = KR_LESS; compare <= KR_NOT_EQUAL; ++compare)
            check_columns(table, compare);
        check_saved(table);
        check_shared_changes(table);
    }
    kr_table_destroy(table);
    kr_texts_destroy(texts);
}

/* Codes that the caller has made; a dictionary without an order. */
static void check_codes(void)
{
    static uint32_t codes[600];
    kr_texts_info info = {.struct_size = sizeof info};
    kr_table *table = NULL;
    n_rows = 600;
    kr_texts *texts = make_dictionary("ranges=off");
    make_column(&made[0], KR_STRING, rows[0], 600);
    WORKS(kr_texts_encode(texts, &made[0].column, codes, NULL, &err));
    WORKS(kr_texts_query(texts, &info, &err));
    kr_column columns[] = {{.type = KR_U32,
                            .count = 600,
                            .data = codes,
                            .validity = made[0].column.validity,
                            .validity_offset = made[0].column.validity_offset,
                            .dictionary = info.dictionary}};
    const kr_texts *all[] = {texts};
    const kr_table_options options = {.struct_size = sizeof options, .texts = all};
    WORKS(kr_table_create(device, "full", columns, names, 1, &options, NULL, &table, &err));
    for (uint32_t round = 0; table && round < 20; ++round) {
        static const kr_compare compares[] = {KR_EQUAL, KR_NOT_EQUAL, KR_IN, KR_LIKE, KR_LIKE, KR_IS_NULL};
        const kr_compare compare = compares[round % 6];
        row_text values[VALUES_MOST];
        const uint32_t n = number_of_values(compare);
        for (uint32_t i = 0; i < n; ++i)
            values[i] = random_value(0, compare);
        kr_condition *condition = structured(0, compare, values, n);
        for (uint32_t i = 0; i < n_rows; ++i)
            expected[i] = holds(rows[0] + i, compare, values, n);
        check_rows(table, condition, "codes without an order");
        kr_condition_destroy(condition);
    }
    if (table)
        refuse_condition(table, "name < 'b'", KR_ERR_UNSUPPORTED);
    uint32_t out = 0;
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_MIN, .out = &out};
    const kr_scan_sink *sinks[] = {&sink};
    REFUSED(KR_ERR_UNSUPPORTED, kr_scan(table, NULL, sinks, 1, NULL, NULL, &err));
    kr_table_destroy(table);
    table = NULL;
    columns[0].dictionary = 0;
    REFUSED(KR_ERR_TYPE, kr_table_create(device, "full", columns, names, 1, &options, NULL, &table, &err));
    columns[0].type = KR_I32;
    REFUSED(KR_ERR_TYPE, kr_table_create(device, "full", columns, names, 1, &options, NULL, &table, &err));
    kr_texts_destroy(texts);
}

/* ---- Estimates, empty tables, bad columns --------------------------------------------------------- */

static void check_estimate(const char *spec)
{
    kr_column columns[COLUMNS];
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_table_info info = {.struct_size = sizeof info};
    const kr_table_options copies = {.struct_size = sizeof copies, .copy = KR_COPY_ALWAYS};
    kr_table *table = NULL;
    n_rows = N;
    describe(KR_STRING, 0, N, columns);
    if (kr_table_create(device, spec, columns, names, COLUMNS, &copies, NULL, &table, NULL) != KR_OK)
        return;
    WORKS(kr_table_estimate(device, spec, columns, COLUMNS, &copies, &estimate, &err));
    WORKS(kr_table_query(table, &info, &err));
    CHECK(estimate.footprint_nbytes >= info.footprint_nbytes && estimate.peak_nbytes >= info.peak_nbytes);
    if (estimate.peak_nbytes < info.peak_nbytes)
        printf("%s: estimated %llu, took %llu\n", spec, (unsigned long long)estimate.peak_nbytes,
               (unsigned long long)info.peak_nbytes);
    columns[0].data = NULL; /* nothing is read */
    WORKS(kr_table_estimate(device, spec, columns, COLUMNS, &copies, &estimate, &err));
    kr_table_destroy(table);
}

static void check_few_rows(void)
{
    n_rows = 0;
    kr_table *table = create("full", KR_STRING, NULL);
    check_table(table, 4 * 0);
    make_rows(0, 3, 5);
    append(table, 3, KR_STRING, KR_OK);
    check_table(table, 10);
    kr_table_destroy(table);
    n_rows = 5;
    for (uint32_t i = 0; i < n_rows; ++i) {
        rows[0][i] = text_of("");
        rows[2][i] = (row_text){.is_null = 1};
    }
    table = create("bindex", KR_LARGE_STRING, NULL); /* one empty text; no text at all */
    check_table(table, 20);
    kr_table_destroy(table);
}

static void check_bad_columns(void)
{
    kr_column columns[COLUMNS];
    kr_table *table = NULL;
    n_rows = N;
    describe(KR_STRING, 0, N, columns);
    made[0].near[7] = -1;
    REFUSED(KR_ERR_ARGUMENT,
            kr_table_create(device, "full", columns, names, COLUMNS, NULL, NULL, &table, &err));
    describe(KR_STRING, 0, N, columns);
    columns[0].dictionary = 5;
    REFUSED(KR_ERR_ARGUMENT,
            kr_table_create(device, "full", columns, names, COLUMNS, NULL, NULL, &table, &err));
    describe(KR_STRING, 0, N, columns);
    const kr_texts *all[COLUMNS] = {NULL};
    kr_device *other = NULL;
    WORKS(kr_device_open("cpu", NULL, &other, &err));
    make_column(&values_made, KR_STRING, rows[0], N);
    kr_texts *foreign = NULL;
    WORKS(kr_texts_create(other, &values_made.column, NULL, NULL, &foreign, &err));
    all[0] = foreign;
    const kr_table_options options = {.struct_size = sizeof options, .texts = all};
    REFUSED(KR_ERR_ARGUMENT,
            kr_table_create(device, "full", columns, names, COLUMNS, &options, NULL, &table, &err));
    kr_texts_destroy(foreign);
    kr_device_close(other);
}

int main(int argc, char **argv)
{
    const int skip = take_device_name(argc, argv);
    if (skip)
        return skip;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint32_t s = 0; s < SPECS; ++s) {
        make_rows(0, N, 6);
        n_rows = N;
        kr_table *table = create(specs[s], (kr_type)(KR_STRING + s % 6), NULL);
        if (!table)
            continue;
        check_table(table, 40);
        check_explained(table);
        check_refused_conditions(table);
        check_saved(table);
        if (s < 3)
            check_prepared(table);
        check_changes(table);
        check_refused_appends(table);
        check_saved(table);
        kr_table_destroy(table);
        make_rows(0, N, 6);
        check_shared(specs[s]);
        check_estimate(specs[s]);
    }
    make_rows(0, N, 6);
    check_codes();
    make_rows(0, N, 6);
    check_bad_columns();
    check_few_rows();
    kr_device_close(device);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
