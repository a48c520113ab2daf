/* The table of saved_tables.c and saved_table_rules.c, what it is asked, and its file. */
#ifndef KEYRAY_TESTS_SAVED_TABLES_H
#define KEYRAY_TESTS_SAVED_TABLES_H

#include "check.h"

#include <unistd.h>

enum { N = 70000, MORE = 3000, ROOM = N + 2 * MORE, WORDS = (ROOM + 31) / 32, COLUMNS = 6 };
enum { DICTIONARY = 77, TEXTS = 5 };

static const char *const names[COLUMNS] = {"a", "b", "c", "word", "time", "tiny"};
static const kr_unit units[COLUMNS] = {[4] = KR_UNIT_MS};
static const char *const texts[TEXTS] = {"ash", "beech", "elm", "oak", "yew"};

static uint32_t a[ROOM], word[ROOM];
static int64_t b[ROOM], moment[ROOM];
static double c[ROOM];
static uint8_t tiny[ROOM], bits[ROOM / 8 + 2];
static kr_device *host;
static char path[] = "/tmp/keyray_saved_tables_XXXXXX";

static inline void describe(uint64_t first, uint64_t n, kr_column columns[COLUMNS])
{
    columns[0] = (kr_column){.type = KR_U32, .count = n, .data = a + first, .validity = bits};
    columns[0].validity_offset = first + 3;
    columns[1] = (kr_column){.type = KR_I64, .count = n, .data = b + first};
    columns[2] = (kr_column){.type = KR_F64, .count = n, .data = c + first, .validity = bits};
    columns[2].validity_offset = first;
    columns[3] = (kr_column){.type = KR_U32, .count = n, .data = word + first, .dictionary = DICTIONARY};
    columns[4] = (kr_column){.type = KR_TIMESTAMP64, .count = n, .data = moment + first};
    columns[5] = (kr_column){.type = KR_U8, .count = n, .data = tiny + first};
}

static inline void fill(void)
{
    uint64_t state = 5;
    for (uint64_t i = 0; i < ROOM; ++i) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        a[i] = (uint32_t)(i / 3 + (state >> 60)); /* clustered, so that zones are used */
        b[i] = (int64_t)(state >> 20) - (INT64_C(1) << 43);
        c[i] = (double)(state >> 40 & 0xFFFF) / 16;
        word[i] = (uint32_t)(state >> 33) % TEXTS;
        moment[i] = (int64_t)(i * 1000);
        tiny[i] = (uint8_t)(state >> 50);
        bits[(i + 3) / 8] |= (uint8_t)((state >> 37) % 7 ? 1 << (i + 3) % 8 : 0);
    }
}

static inline int find_text(void *ctx, uint32_t column, const char *text, size_t nbytes, uint32_t *code)
{
    int order = -1;
    if (ctx != texts || column != 3)
        return -1;
    for (*code = 0; *code < TEXTS; ++*code) {
        order = strncmp(texts[*code], text, nbytes);
        if (order >= 0)
            break;
    }
    return *code < TEXTS && strlen(texts[*code]) == nbytes && order == 0;
}

static inline kr_table_options options_of(kr_copy copy)
{
    return (kr_table_options){
        .struct_size = sizeof(kr_table_options), .copy = copy, .find_text = find_text, .ctx = (void *)texts};
}

static inline kr_table *create(kr_device *on, const char *spec, uint64_t n, kr_error *err)
{
    kr_column columns[COLUMNS];
    kr_table_options options = options_of(KR_COPY_AUTO);
    kr_table *table = NULL;
    options.units = units;
    describe(0, n, columns);
    kr_table_create(on, spec, columns, names, COLUMNS, &options, NULL, &table, err);
    return table;
}

static inline kr_table_info info_of(const kr_table *table)
{
    kr_table_info info = {.struct_size = sizeof info};
    WORKS(kr_table_query(table, &info, &err));
    return info;
}

static inline uint64_t in_use(kr_device *of)
{
    kr_device_info info = {.struct_size = sizeof info};
    WORKS(kr_device_query(of, &info, &err));
    return info.in_use_nbytes;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static const char *const conditions[] = {
    "",
    "a < 5000",
    "a is null and tiny > 100",
    "not (a >= 100 and c < 2000)",
    "b between -1000000000000 and 1000000000000 and tiny <> 7",
    "word = 'oak' or word > 'oat'",
    "word in ('ash', 'yew') and a < 20000 and b > 0",
    "time < '1970-01-01 00:00:30.000' or c is null",
    "tiny in (1, 3, 5, 7, 200) or c = 17.5",
    "a = 4000 or a = 4002 or a = 9000",
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

typedef struct answers {
    uint32_t bitmaps[CONDITIONS][WORDS], rows[ROOM];
    uint64_t counts[CONDITIONS], n_rows;
    int64_t sum;
    double least;
    uint8_t valid;
} answers;

static inline void scan(kr_table *table, kr_condition *const *parsed, uint32_t n, kr_scan_sink *sinks)
{
    const kr_scan_sink *pointers[CONDITIONS];
    for (uint32_t i = 0; i < n; ++i) {
        sinks[i].struct_size = sizeof *sinks;
        pointers[i] = sinks + i;
    }
    WORKS(kr_scan(table, (const kr_condition *const *)parsed, pointers, n, NULL, NULL, &err));
}

static inline void ask(kr_table *table, answers *to)
{
    kr_condition *parsed[CONDITIONS];
    kr_scan_sink sinks[CONDITIONS];
    memset(to, 0, sizeof *to);
    for (uint32_t i = 0; i < CONDITIONS; ++i) {
        WORKS(kr_condition_parse(conditions[i], parsed + i, &err));
        sinks[i] = (kr_scan_sink){.result = KR_SCAN_BITMAP, .out = to->bitmaps[i]};
    }
    scan(table, parsed, CONDITIONS, sinks);
    for (uint32_t i = 0; i < CONDITIONS; ++i) {
        sinks[i] = (kr_scan_sink){.result = KR_SCAN_COUNT, .out = to->counts + i};
        scan(table, parsed + i, 1, sinks + i);
    }
    sinks[0] = (kr_scan_sink){.result = KR_SCAN_SUM, .column = 1, .out = &to->sum};
    scan(table, parsed + 3, 1, sinks);
    sinks[0] = (kr_scan_sink){.result = KR_SCAN_MIN, .column = 2, .out = &to->least, .valid = &to->valid};
    scan(table, parsed + 5, 1, sinks);
    sinks[0] =
        (kr_scan_sink){.result = KR_SCAN_ROWS, .out = &to->n_rows, .rows = to->rows, .rows_capacity = ROOM};
    scan(table, parsed + 6, 1, sinks);
    for (uint32_t i = 0; i < CONDITIONS; ++i)
        kr_condition_destroy(parsed[i]);
}

static inline int same_answers(kr_table *table, const answers *want)
{
    static answers got;
    ask(table, &got);
    return memcmp(&got, want, sizeof got) == 0;
}

/* What a table says of itself is what the other says, but for where it is. */
static inline void compare(kr_table *one, kr_table *other)
{
    static answers want;
    const kr_table_info x = info_of(one), y = info_of(other);
    ask(one, &want);
    CHECK(same_answers(other, &want));
    CHECK(!strcmp(x.spec, y.spec) && x.rows == y.rows && x.alive_rows == y.alive_rows &&
          x.columns == y.columns);
    CHECK(kr_table_counter_count(one) == kr_table_counter_count(other));
    for (uint32_t i = 0; i < kr_table_counter_count(one); ++i)
        CHECK(kr_table_counter_value(one, i) == kr_table_counter_value(other, i));
    WORKS(kr_table_validate(other, &err));
}

/* ---- Saving and loading ---------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t *at;
    uint64_t n;
} bytes;

static inline bytes save_to_memory(const kr_table *table)
{
    bytes made = {0};
    kr_pieces *pieces = NULL;
    const void *piece = NULL;
    uint64_t nbytes = 1, n = 0;
    double fraction = 0;
    WORKS(kr_table_pieces(table, NULL, &pieces, &err));
    made.n = kr_pieces_nbytes(pieces);
    made.at = malloc(made.n + 1);
    while (nbytes) {
        WORKS(kr_pieces_next(pieces, &piece, &nbytes, &fraction, &err));
        CHECK(n + nbytes <= made.n && fraction >= 0 && fraction <= 1);
        if (!nbytes || n + nbytes > made.n)
            break;
        memcpy(made.at + n, piece, nbytes);
        n += nbytes;
    }
    CHECK(n == made.n);
    kr_pieces_destroy(pieces);
    return made;
}

static const uint64_t dictionaries[COLUMNS] = {[3] = DICTIONARY};

static inline kr_saved *open_path(kr_verify verify)
{
    const kr_saved_options options = {.struct_size = sizeof options,
                                      .verify = verify,
                                      .n_dictionaries = COLUMNS,
                                      .dictionaries = dictionaries};
    kr_saved *saved = NULL;
    WORKS(kr_saved_open(path, &options, &saved, &err));
    return saved;
}

static inline kr_saved *open_bytes(const bytes *from)
{
    const kr_saved_options options = {
        .struct_size = sizeof options, .n_dictionaries = COLUMNS, .dictionaries = dictionaries};
    kr_saved *saved = NULL;
    WORKS(kr_saved_open_memory(from->at, from->n, &options, &saved, &err));
    return saved;
}

static inline kr_table *load(kr_device *on, kr_saved *saved, kr_copy copy)
{
    const kr_table_options options = options_of(copy);
    kr_table *table = NULL;
    WORKS(kr_table_load(on, saved, &options, NULL, &table, &err));
    return table;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static inline void append(kr_table *table, uint64_t first, uint64_t n)
{
    kr_column columns[COLUMNS];
    describe(first, n, columns);
    WORKS(kr_table_append(table, columns, COLUMNS, NULL, &err));
}

static inline void delete_some(kr_table *table, uint32_t first)
{
    uint32_t rows[500];
    uint64_t n = 0;
    kr_condition *condition = NULL;
    for (uint32_t i = 0; i < 500; ++i)
        rows[i] = first + 3 * i;
    WORKS(kr_table_delete(table, rows, 500, NULL, &n, &err));
    CHECK(n > 0);
    WORKS(kr_condition_parse("tiny = 9 and word <> 'elm'", &condition, &err));
    WORKS(kr_table_delete_where(table, condition, NULL, NULL, &err));
    kr_condition_destroy(condition);
}

#endif
