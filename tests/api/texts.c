/* Texts: columns of one dictionary compare, those of two are refused wherever columns meet, and
 * kr_file_convert gives one file the dictionary of another. */
#include "check.h"

#include <unistd.h>

enum { NAME_NBYTES = 64 };

static kr_device *device;

/* A file of texts, a line for each, read as `options` say. */
static kr_file *read_as(const char *text, const kr_file_options *options)
{
    char path[NAME_NBYTES];
    kr_file *file = NULL;
    snprintf(path, sizeof path, "texts-%ld.csv", (long)getpid());
    FILE *to = fopen(path, "w");
    CHECK(to != NULL);
    if (!to)
        exit(1);
    fprintf(to, "x\n%s", text);
    fclose(to);
    strcat(path, ":x:str");
    WORKS(kr_file_read(path, options, NULL, &file, &err));
    *strchr(path, ':') = '\0';
    remove(path);
    return file;
}

static kr_file *read_texts(const char *text)
{
    return read_as(text, NULL);
}

/* ---- Refused --------------------------------------------------------------------------------- */

static void refuse_joins(const kr_column *a, const kr_column *b)
{
    const kr_column times = {.type = KR_U32, .count = a->count, .data = a->data},
                    others = {.type = KR_U32, .count = b->count, .data = b->data};
    const kr_column lefts[] = {times, *a}, rights[] = {others, *b};
    uint64_t pairs = 0, counts[16];
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
    kr_join *join = NULL;
    kr_index *index = NULL;
    REFUSED(KR_ERR_TYPE, kr_join_create(device, "hash", a, b, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_range(device, "array", a, b, b, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_range(device, "array", b, b, a, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_columns(device, "hash", lefts, rights, 2, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_chunks(device, "hash", a, b, NULL, NULL, 1 << 20, NULL, NULL, &pairs, &err));
    REFUSED(KR_ERR_TYPE,
            kr_join_create_asof(device, "array", &times, &others, a, b, 1, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_asof(device, "array", a, b, NULL, NULL, 0, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE,
            kr_join_create_overlap(device, "array", a, a, b, b, KR_ENDS_CLOSED, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_overlap_chunks(device, "array", a, a, b, b, KR_ENDS_CLOSED, 1 << 20, NULL,
                                                NULL, &pairs, &err));
    REFUSED(KR_ERR_TYPE, kr_join_sums(device, "array", a, b, NULL, &count, NULL, &err));
    WORKS(kr_index_create(device, "array", b, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_prepared(index, a, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE, kr_join_create_prepared(index, b, a, NULL, &join, &err));
    CHECK(join == NULL && pairs == 0);
    kr_index_destroy(index);
}

static int take_nothing(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                        const uint32_t *rows)
{
    (void)ctx, (void)first_probe, (void)n_probes, (void)offsets, (void)rows;
    return 0;
}

static void refuse_lookups(const kr_column *a, const kr_column *b)
{
    uint32_t found[16] = {0};
    const uint32_t ids[16] = {0, 1, 2};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = found};
    const kr_sink *const sinks[] = {&sink};
    kr_index *index = NULL;
    kr_prepared *prepared = NULL;
    WORKS(kr_index_create(device, "array", a, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup(index, b, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_range(index, a, b, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_range(index, b, a, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_nearest(index, b, NULL, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup_many(index, b, NULL, NULL, sinks, 1, NULL, &err));
    REFUSED(KR_ERR_TYPE,
            kr_index_lookup_chunks(index, b, NULL, KR_ORDER_ROW, 1 << 20, take_nothing, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_prepare_lookup(index, b, &sink, &prepared, &err));
    REFUSED(KR_ERR_TYPE, kr_prepare_range(index, a, b, &sink, &prepared, &err));
    REFUSED(KR_ERR_TYPE, kr_prepare_nearest(index, b, NULL, &sink, &prepared, &err));
    REFUSED(KR_ERR_TYPE, kr_index_set_keys(index, ids, b, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(index, b, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(index, NULL, NULL, b, NULL, &err));
    CHECK(prepared == NULL && found[0] == 0);
    WORKS(kr_index_update(index, a, NULL, NULL, NULL, &err));
    WORKS(kr_index_update(index, NULL, NULL, a, NULL, &err));
    kr_index_destroy(index);
}

static kr_status scan(kr_table *table, const kr_condition *condition, uint64_t *count, kr_error *err)
{
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = count};
    const kr_scan_sink *sinks[] = {&sink};
    return kr_scan(table, &condition, sinks, 1, NULL, NULL, err);
}

/* A table of two columns of a, and one of b or of numbers. */
static void refuse_scans(const kr_column *a, const kr_column *b)
{
    static const char *const names[] = {"a", "again", "b"};
    const kr_column first = {.type = b->type, .count = 1, .data = b->data, .dictionary = b->dictionary},
                    same = {.type = a->type, .count = 1, .data = a->data, .dictionary = a->dictionary};
    kr_column columns[] = {*a, *a, *b}, appended[] = {*a, *b, *b};
    kr_table *table = NULL;
    kr_condition *values = NULL, *mixed = NULL, *alike = NULL, *own = NULL;
    uint64_t count = 99;
    WORKS(kr_table_create(device, "full", columns, names, 3, NULL, NULL, &table, &err));
    WORKS(kr_condition_compare("a", KR_EQUAL, &first, &values, &err));
    WORKS(kr_condition_compare("a", KR_EQUAL, &same, &own, &err));
    WORKS(kr_condition_compare_columns("a", KR_EQUAL, "b", &mixed, &err));
    WORKS(kr_condition_compare_columns("a", KR_EQUAL, "again", &alike, &err));
    if (b->dictionary)
        REFUSED(KR_ERR_TYPE, scan(table, values, &count, &err));
    REFUSED(KR_ERR_TYPE, scan(table, mixed, &count, &err));
    CHECK(count == 99);
    WORKS(scan(table, alike, &count, &err));
    CHECK(count == a->count);
    WORKS(scan(table, own, &count, &err));
    CHECK(count == 1);
    REFUSED(KR_ERR_TYPE, kr_table_append(table, appended, 3, NULL, &err));
    WORKS(kr_table_append(table, columns, 3, NULL, &err));
    REFUSED(KR_ERR_TYPE, scan(table, mixed, &count, &err)); /* its columns are copies now */
    REFUSED(KR_ERR_TYPE, kr_table_append(table, appended, 3, NULL, &err));
    kr_condition_destroy(own);
    kr_condition_destroy(alike);
    kr_condition_destroy(mixed);
    kr_condition_destroy(values);
    kr_table_destroy(table);
}

static void refuse_all(void)
{
    kr_file *a = read_texts("ant\ncow\ndog\n"), *b = read_texts("bee\ncow\neel\n");
    kr_column numbers = *kr_file_column(b), copy = *kr_file_column(a);
    CHECK(copy.dictionary != 0 && copy.dictionary != numbers.dictionary);
    refuse_joins(kr_file_column(a), kr_file_column(b));
    refuse_lookups(kr_file_column(a), kr_file_column(b));
    refuse_scans(kr_file_column(a), kr_file_column(b));
    numbers.dictionary = 0;
    refuse_joins(kr_file_column(a), &numbers);
    refuse_lookups(kr_file_column(a), &numbers);
    refuse_scans(kr_file_column(a), &numbers);
    kr_index *index = NULL;
    copy.type = KR_I32; /* codes are u32 */
    REFUSED(KR_ERR_ARGUMENT, kr_index_create(device, "array", &copy, NULL, NULL, &index, &err));
    kr_file_close(b);
    kr_file_close(a);
}

/* ---- Converted ------------------------------------------------------------------------------- */

static uint64_t pairs_of(const kr_column *left, const kr_column *right)
{
    uint64_t pairs = 0;
    WORKS(kr_join_chunks(device, "hash", left, right, NULL, NULL, 1 << 20, NULL, NULL, &pairs, &err));
    return pairs;
}

/* The file keeps the strings, also when the other one is closed. */
static void convert(void)
{
    kr_file *keys = read_texts("cow\nant\nbee\ncow\n\n"), *probes = read_texts("cow\nbee\n\"\"\n");
    const uint32_t *codes = kr_file_column(probes)->data;
    CHECK(codes[0] == 1 && codes[1] == 0); /* as they are in a dictionary of their own */
    WORKS(kr_file_convert(probes, keys, &err));
    codes = kr_file_column(probes)->data;
    CHECK(codes[0] == 2 && codes[1] == 1);
    CHECK(kr_file_column(probes)->dictionary == kr_file_column(keys)->dictionary);
    CHECK(pairs_of(kr_file_column(probes), kr_file_column(keys)) == 3);
    WORKS(kr_file_convert(probes, keys, &err)); /* nothing is left to do */
    CHECK(codes[0] == 2 && codes[1] == 1);
    kr_file_close(keys);
    CHECK(!strcmp(kr_file_string(probes, 2, NULL), "cow") && !strcmp(kr_file_string(probes, 0, NULL), "ant"));
    kr_file *fewer = read_texts("bee\ncow\n");
    WORKS(kr_file_convert(probes, fewer, &err)); /* no row of it is "ant" */
    codes = kr_file_column(probes)->data;
    CHECK(codes[0] == 1 && codes[1] == 0);
    kr_file_close(fewer);
    kr_file_close(probes);
}

static void convert_nothing(void)
{
    kr_file *keys = read_texts("ant\nbee\n"), *probes = read_texts("bee\nauk\n");
    const kr_column before = *kr_file_column(probes);
    kr_error err = {0};
    CHECK(kr_file_convert(probes, keys, &err) == KR_ERR_TYPE);
    CHECK(strstr(err.text, "row 1 is 'auk'") != NULL);
    CHECK(!memcmp(&before, kr_file_column(probes), sizeof before));
    CHECK(((const uint32_t *)before.data)[0] == 1 && ((const uint32_t *)before.data)[1] == 0);
    CHECK(!strcmp(kr_file_string(probes, 0, NULL), "auk"));
    kr_file_close(probes);
    kr_file_close(keys);
}

/* Values by hand have a dictionary of their own, too. */
static void convert_literals(void)
{
    kr_file *keys = read_texts("ant\nbee\ncow\n"), *probes = NULL;
    uint32_t rows[2] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_index *index = NULL;
    WORKS(kr_file_literals("cow,bee", keys, &probes, &err));
    WORKS(kr_index_create(device, "hash", kr_file_column(keys), NULL, NULL, &index, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup(index, kr_file_column(probes), &sink, NULL, &err));
    WORKS(kr_file_convert(probes, keys, &err));
    WORKS(kr_index_lookup(index, kr_file_column(probes), &sink, NULL, &err));
    CHECK(rows[0] == 2 && rows[1] == 1);
    kr_index_destroy(index);
    kr_file_close(probes);
    kr_file_close(keys);
}

/* Texts of two files meet without a dictionary, in joins, indexes and tables. */
static void texts_themselves(void)
{
    const kr_file_options spelled = {.struct_size = sizeof spelled, .texts = 1};
    kr_file *keys = read_as("cow\nant\nbee\ncow\n\n", &spelled),
            *probes = read_as("bee\nauk\ncow\n", &spelled);
    const kr_column *left = kr_file_column(probes), *right = kr_file_column(keys);
    static const char *const names[] = {"x"};
    uint64_t counts[3] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_index *index = NULL;
    kr_table *table = NULL;
    CHECK(pairs_of(left, right) == 3);
    WORKS(kr_index_create(device, "hash", right, NULL, NULL, &index, &err));
    WORKS(kr_index_lookup(index, left, &sink, NULL, &err));
    CHECK(counts[0] == 1 && counts[1] == 0 && counts[2] == 2);
    WORKS(kr_table_create(device, "full", right, names, 1, NULL, NULL, &table, &err));
    kr_table_destroy(table);
    kr_index_destroy(index);
    kr_file_close(probes);
    kr_file_close(keys);
}

int main(void)
{
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    refuse_all();
    convert();
    convert_nothing();
    convert_literals();
    texts_themselves();
    kr_device_close(device);
    return failures != 0;
}
