/* Tables that share dictionaries of the caller's: columns that compare with each other, appends, files, codes
 * that the caller made, with and without an order, and codes of no text. */
#include "text_table_checks.h"

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
        if (compare == KR_LIKE && n == 2)
            make_escape(values, values + 1);
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

/* ---- Codes of no text ---------------------------------------------------------------------------- */

/* Three texts, and columns of their codes. */
static kr_texts *make_animals(uint64_t *dictionary)
{
    const row_text animals[] = {text_of("ant"), text_of("bee"), text_of("cat")};
    kr_texts_info info = {.struct_size = sizeof info};
    kr_texts *texts = NULL;
    make_column(&values_made, KR_STRING, animals, 3);
    WORKS(kr_texts_create(device, &values_made.column, NULL, NULL, &texts, &err));
    WORKS(kr_texts_query(texts, &info, &err));
    *dictionary = info.dictionary;
    return texts;
}

static void expect_text(kr_status got, kr_status want, const kr_error *said, const char *says)
{
    CHECK(got == want && strstr(said->text, says) && !strchr(said->text, '\n'));
    if (got != want || !strstr(said->text, says))
        printf("wanted '%s', got %s '%s'\n", says, kr_status_name(got), said->text);
}

/* Codes that came into a table by themselves: the caller changed what it references, or the file is wrong. */
static void check_strange_later(kr_table *table, uint32_t *codes)
{
    static const char path[] = "text_tables_shared.krx";
    const kr_saved_options trusted = {.struct_size = sizeof trusted, .verify = KR_VERIFY_HEADER};
    kr_error said = {0};
    kr_saved *saved = NULL;
    kr_table *loaded = NULL;
    codes[2] = 3;
    expect_text(kr_table_validate(table, &said), KR_ERR_INVARIANT, &said,
                "column 'name', row 2: 3 is no code");
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    expect_text(kr_table_load(device, saved, NULL, NULL, &loaded, &said), KR_ERR_FORMAT, &said,
                "column 'name', row 2: 3 is no code");
    kr_saved_close(saved);
    WORKS(kr_saved_open(path, &trusted, &saved, &err));
    WORKS(kr_table_load(device, saved, NULL, NULL, &loaded, &err));
    REFUSED(KR_ERR_INVARIANT, kr_table_validate(loaded, &err));
    kr_table_destroy(loaded);
    kr_saved_close(saved);
    remove(path);
    codes[2] = 0;
}

static void check_strange_codes(const char *spec)
{
    uint32_t codes[] = {0, 2, 0, 1, 7}, missing[] = {1, KR_NO_ROW};
    const uint8_t all_but[] = {0x0F << 2};
    kr_column column = {.type = KR_U32, .count = 5, .data = codes};
    kr_texts *texts = make_animals(&column.dictionary);
    const kr_texts *all[] = {texts};
    const kr_table_options options = {.struct_size = sizeof options, .texts = all};
    kr_table_info info = {.struct_size = sizeof info};
    kr_table *table = NULL;
    kr_error said = {0};
    const kr_status status = kr_table_create(device, spec, &column, names, 1, &options, NULL, &table, &said);
    if (status != KR_ERR_UNSUPPORTED && status != KR_ERR_SPEC) {
        expect_text(status, KR_ERR_ARGUMENT, &said,
                    "column 'name', row 4: 7 is no code of its dictionary, which has 3");
        column.validity = all_but;
        column.validity_offset = 2;
        WORKS(kr_table_create(device, spec, &column, names, 1, &options, NULL, &table, &err));
    }
    if (table) {
        WORKS(kr_table_validate(table, &err));
        kr_column more = {.type = KR_U32, .count = 2, .data = missing, .dictionary = column.dictionary};
        expect_text(kr_table_append(table, &more, 1, NULL, &said), KR_ERR_ARGUMENT, &said,
                    "column 'name' to append, row 1: 4294967295 is no code");
        WORKS(kr_table_query(table, &info, &err));
        CHECK(info.rows == 5);
        if (strcmp(device_name, "cpu") == 0)
            check_strange_later(table, codes);
        more.count = 1;
        WORKS(kr_table_append(table, &more, 1, NULL, &err));
        WORKS(kr_table_validate(table, &err));
    }
    kr_table_destroy(table);
    kr_texts_destroy(texts);
}

/* ---- Codes beside texts that make their dictionary anew --------------------------------------------- */

/* A table that owns the dictionary of both its columns, as loaded ones do. */
static kr_table *create_with_both(const char *spec)
{
    static const char path[] = "text_tables_both.krx";
    kr_texts *texts = make_dictionary("ranges=on");
    const kr_texts *all[] = {texts, NULL, texts};
    const kr_table_options options = {.struct_size = sizeof options, .texts = all};
    kr_saved *saved = NULL;
    kr_table *loaded = NULL, *table = create(spec, KR_STRING, &options);
    if (table) {
        WORKS(kr_table_save(table, path, NULL, NULL, &err));
        WORKS(kr_saved_open(path, NULL, &saved, &err));
        WORKS(kr_table_load(device, saved, NULL, NULL, &loaded, &err));
        kr_saved_close(saved);
        remove(path);
    }
    kr_table_destroy(table);
    kr_texts_destroy(texts);
    return loaded;
}

static uint64_t dictionary_of(const kr_table *table, uint32_t c)
{
    kr_texts_info info = {.struct_size = sizeof info};
    WORKS(kr_texts_query(kr_table_texts(table, c), &info, &err));
    return info.dictionary;
}

/* 50 rows: column c is given as codes, the other column as texts, of which some are new. */
static void append_codes(kr_table *table, uint32_t c)
{
    static uint32_t codes[50];
    char fresh[40];
    kr_column columns[COLUMNS];
    const uint64_t before = dictionary_of(table, c), others = dictionary_of(table, 2 - c);
    make_rows(n_rows, 50, 9);
    for (uint32_t i = n_rows; i < n_rows + 50; ++i)
        rows[c][i] = rows[c][below(600)];
    snprintf(fresh, sizeof fresh, "a new text of row %u", n_rows);
    rows[2 - c][n_rows + 7] = text_of(fresh);
    describe(KR_STRING, n_rows, 50, columns);
    WORKS(kr_texts_encode(kr_table_texts(table, c), &columns[c], codes, NULL, &err));
    for (uint32_t i = 0; i < 50; ++i)
        if (rows[c][n_rows + i].is_null)
            codes[i] = i % 2 ? KR_NO_ROW : below(2000); /* nobody reads it */
    columns[c] = (kr_column){.type = KR_U32,
                             .count = 50,
                             .data = codes,
                             .validity = columns[c].validity,
                             .validity_offset = columns[c].validity_offset,
                             .dictionary = before};
    WORKS(kr_table_append(table, columns, COLUMNS, NULL, &err));
    CHECK(dictionary_of(table, 2 - c) != others);
    n_rows += 50;
    check_table(table, 6);
    if (dictionary_of(table, c) != before) /* codes of before are no longer its own */
        REFUSED(KR_ERR_TYPE, kr_table_append(table, columns, COLUMNS, NULL, &err));
}

static void check_moved_codes(const char *spec)
{
    make_rows(0, N, 6);
    n_rows = 600;
    kr_table *table = create_with_both(spec);
    if (table) {
        append_codes(table, 0);
        append_codes(table, 2);
        CHECK(kr_table_texts(table, 0) == kr_table_texts(table, 2));
        for (kr_compare compare = KR_LESS; compare <= KR_NOT_EQUAL; ++compare)
            check_columns(table, compare);
    }
    kr_table_destroy(table);
    n_rows = 600;
    table = create(spec, KR_LARGE_STRING, NULL); /* each column has its own */
    if (table) {
        append_codes(table, 0);
        append_codes(table, 2);
    }
    kr_table_destroy(table);
}

int main(int argc, char **argv)
{
    const int skip = take_device_name(argc, argv);
    if (skip)
        return skip;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint32_t s = 0; s < SPECS; ++s) {
        const int before = failures;
        make_rows(0, N, 6);
        check_shared(specs[s]);
        check_strange_codes(specs[s]);
        check_moved_codes(specs[s]);
        if (failures > before)
            printf("%s\n", specs[s]);
    }
    make_rows(0, N, 6);
    check_codes();
    kr_device_close(device);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
