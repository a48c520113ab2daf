/* Tables with columns of texts: every comparison, on every kind of scan, against memcmp and a plain matcher
 * of LIKE; what results, appends, deletes, files and prepared scans do with texts. */
#include "text_table_checks.h"

/* ---- Appends and deletes ----------------------------------------------------------------------- */

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
    REFUSED(KR_ERR_FORMAT, kr_condition_parse("name like 'a' escape", &condition, &err));
    REFUSED(KR_ERR_FORMAT, kr_condition_parse("name = 'a' escape '!'", &condition, &err));
    refuse_condition(table, "name like 'a' escape ''", KR_ERR_ARGUMENT);
    refuse_condition(table, "name like 'a' escape '!!'", KR_ERR_ARGUMENT);
    refuse_condition(table, "name like 'a!' escape '!'", KR_ERR_ARGUMENT);
    refuse_condition(table, "name not like 'a!!!' escape '!'", KR_ERR_ARGUMENT);
    refuse_condition(table, "name like 'a' escape 5", KR_ERR_TYPE);
    make_column(&values_made, KR_STRING, rows[0], 3);
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
        check_estimate(specs[s]);
    }
    make_rows(0, N, 6);
    check_bad_columns();
    check_few_rows();
    kr_device_close(device);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
