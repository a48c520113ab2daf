/* kr_prepared_rebind and kr_prepared_rebind_table: prepared lookups and scans go on with a version, in the
 * same scratch memory where it suffices; what differs is refused; the old index may be gone. */
#include "check.h"
#include "device_memory.h"
#include "device_name.h"

enum { KEYS = 3000, PROBES = 500, SPREAD = 700 };

static kr_device *device;
static uint32_t keys[KEYS], probes[PROBES], uppers[PROBES];

static kr_index *create(const char *spec, kr_type type)
{
    const kr_column column = {.type = type, .count = KEYS, .data = keys};
    kr_index *index = NULL;
    kr_error why = {0};
    if (kr_index_create(device, spec, &column, NULL, NULL, &index, &why) != KR_OK)
        printf("%s is left out: %s\n", spec, why.text);
    return index;
}

/* Inserts n rows with key 1, and deletes those with key 2. */
static kr_index *next_of(const kr_index *index, uint32_t n)
{
    static uint32_t ones[KEYS];
    const uint32_t two = 2;
    const kr_column inserts = {.type = KR_U32, .count = n, .data = ones};
    const kr_column deletes = {.type = KR_U32, .count = 1, .data = &two};
    kr_index *next = NULL;
    for (uint32_t i = 0; i < n; ++i)
        ones[i] = 1;
    WORKS(kr_index_next_version(index, &inserts, NULL, &deletes, NULL, &next, &err));
    return next;
}

typedef struct lookup {
    kr_column lower, upper;
    kr_sink sink;
    void *out, *rows;
    uint64_t n_out;
} lookup;

static const uint64_t ROOM = 1 << 20;

static lookup open_lookup(kr_result result)
{
    lookup l = {.lower = {.type = KR_U32, .count = PROBES, .data = bring(device, probes, sizeof probes)},
                .upper = {.type = KR_U32, .count = PROBES, .data = bring(device, uppers, sizeof uppers)},
                .out = bring(device, NULL, (PROBES + 1) * sizeof(uint64_t)),
                .rows = bring(device, NULL, ROOM * sizeof(uint32_t))};
    l.sink = (kr_sink){.struct_size = sizeof l.sink, .result = result, .out = l.out};
    if (result == KR_RESULT_ROWS) {
        l.sink.rows = l.rows;
        l.sink.rows_capacity = ROOM;
    }
    return l;
}

static void close_lookup(lookup *l)
{
    kr_memory_release(device, (void *)l->lower.data, sizeof probes, NULL);
    kr_memory_release(device, (void *)l->upper.data, sizeof uppers, NULL);
    kr_memory_release(device, l->out, (PROBES + 1) * sizeof(uint64_t), NULL);
    kr_memory_release(device, l->rows, ROOM * sizeof(uint32_t), NULL);
}

static void read_out(const lookup *l, uint64_t out[PROBES + 1])
{
    const uint64_t n = l->sink.result == KR_RESULT_ROWS ? PROBES + 1 : PROBES;
    memset(out, 0, (PROBES + 1) * sizeof *out);
    WORKS(kr_memory_copy(device, out, l->out, n * sizeof *out, NULL, &err));
}

/* What the prepared lookup writes is what a lookup in the index does. */
static void expect_same(kr_prepared *prepared, kr_index *index, lookup *l, int is_range)
{
    static uint64_t want[PROBES + 1], found[PROBES + 1];
    if (is_range)
        WORKS(kr_index_range(index, &l->lower, &l->upper, &l->sink, NULL, &err));
    else
        WORKS(kr_index_lookup(index, &l->lower, &l->sink, NULL, &err));
    read_out(l, want);
    WORKS(kr_memory_copy(device, l->out, probes, PROBES * sizeof *probes, NULL, &err));
    WORKS(kr_prepared_run(prepared, NULL, &err));
    read_out(l, found);
    CHECK(!memcmp(want, found, sizeof want));
}

static void check_versions(const char *spec, kr_result result, int is_range)
{
    kr_index *index = create(spec, KR_U32), *next = NULL;
    kr_prepared *prepared = NULL;
    if (!index)
        return;
    lookup l = open_lookup(result);
    if (is_range)
        WORKS(kr_prepare_range(index, &l.lower, &l.upper, &l.sink, &prepared, &err));
    else
        WORKS(kr_prepare_lookup(index, &l.lower, &l.sink, &prepared, &err));
    expect_same(prepared, index, &l, is_range);
    const int is_recorded = kr_prepared_is_recorded(prepared);
    for (uint32_t i = 0; i < 5; ++i) {
        next = next_of(index, i == 4 ? KEYS : i);
        const uint64_t before = in_use(device), scratch = kr_prepared_scratch_nbytes(prepared);
        if (i % 2) {
            WORKS(kr_prepared_rebind(prepared, next, &err));
            CHECK(in_use(device) - before == kr_prepared_scratch_nbytes(prepared) - scratch);
            kr_index_destroy(index);
        } else {
            kr_index_destroy(index);
            REFUSED(KR_ERR_ARGUMENT, kr_prepared_run(prepared, NULL, &err));
            WORKS(kr_prepared_rebind(prepared, next, &err));
        }
        CHECK(kr_prepared_is_recorded(prepared) == is_recorded);
        CHECK(i == 4 || kr_prepared_scratch_nbytes(prepared) == scratch);
        index = next;
        expect_same(prepared, index, &l, is_range);
    }
    /* A change in place, after which it is bound to the same index again. */
    const kr_column none = {.type = KR_U32}, one = {.type = KR_U32, .count = 1, .data = probes};
    WORKS(kr_index_update(index, &one, NULL, &none, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_prepared_rebind(prepared, index, &err));
    expect_same(prepared, index, &l, is_range);
    kr_prepared_destroy(prepared);
    kr_index_destroy(index);
    close_lookup(&l);
}

static void check_wrong(void)
{
    kr_error why = {0};
    kr_index *index = create("array", KR_U32), *other = create("hash", KR_U32),
             *wide = create("array", KR_I32), *unlike[2] = {other, wide};
    const char *const said[2] = {"kind", "keys of"};
    kr_prepared *prepared = NULL;
    lookup l = open_lookup(KR_RESULT_COUNT);
    if (!index || !other)
        return;
    WORKS(kr_prepare_lookup(index, &l.lower, &l.sink, &prepared, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind(NULL, index, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind(prepared, NULL, &err));
    for (int i = 0; i < 2; ++i) {
        CHECK(kr_prepared_rebind(prepared, unlike[i], &why) == (i ? KR_ERR_TYPE : KR_ERR_ARGUMENT));
        CHECK(strstr(why.text, said[i]));
    }
    kr_device *foreign = NULL;
    kr_index *abroad = NULL;
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
    WORKS(kr_device_open("cpu", NULL, &foreign, &err));
    WORKS(kr_index_create(foreign, "array", &column, NULL, NULL, &abroad, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind(prepared, abroad, &err));
    kr_index_destroy(abroad);
    kr_device_close(foreign);
    expect_same(prepared, index, &l, 0);
    kr_table *table = NULL;
    WORKS(kr_table_create(device, "full", &column, NULL, 1, NULL, NULL, &table, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind_table(prepared, table, &err));
    kr_table_destroy(table);
    kr_prepared_destroy(prepared);
    kr_index_destroy(index);
    kr_index_destroy(other);
    kr_index_destroy(wide);
    close_lookup(&l);
}

/* Values must reach the row ids of the version. */
static void check_values(void)
{
    kr_index *index = create("array", KR_U32);
    lookup l = open_lookup(KR_RESULT_SUM);
    void *values = bring(device, keys, sizeof keys);
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = values};
    kr_prepared *prepared = NULL;
    l.sink.values = &column;
    WORKS(kr_prepare_lookup(index, &l.lower, &l.sink, &prepared, &err));
    kr_index *longer = next_of(index, 1), *same = next_of(index, 0);
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind(prepared, longer, &err));
    expect_same(prepared, index, &l, 0);
    WORKS(kr_prepared_rebind(prepared, same, &err));
    expect_same(prepared, same, &l, 0);
    kr_prepared_destroy(prepared);
    kr_index_destroy(index);
    kr_index_destroy(longer);
    kr_index_destroy(same);
    kr_memory_release(device, values, sizeof keys, NULL);
    close_lookup(&l);
}

/* ---- Several columns, texts --------------------------------------------------------------------- */

static void check_columns(void)
{
    kr_index *index = NULL, *next = NULL, *single = create("array", KR_U32);
    const kr_column columns[2] = {{.type = KR_U32, .count = KEYS, .data = keys},
                                  {.type = KR_U32, .count = KEYS, .data = keys}};
    const kr_column pair[2] = {{.type = KR_U32, .count = 2, .data = keys},
                               {.type = KR_U32, .count = 2, .data = keys}};
    lookup l = open_lookup(KR_RESULT_COUNT);
    const kr_column asked[2] = {l.lower, l.lower};
    const kr_column_probes wanted = {.struct_size = sizeof wanted, .columns = asked, .n_columns = 2};
    static uint64_t want[PROBES + 1], found[PROBES + 1];
    kr_prepared *prepared = NULL;
    WORKS(kr_index_create_columns(device, "array", columns, 2, NULL, NULL, &index, &err));
    WORKS(kr_index_next_version_columns(index, pair, NULL, NULL, NULL, &next, &err));
    WORKS(kr_prepare_lookup_columns(index, &wanted, &l.sink, &prepared, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind(prepared, single, &err));
    WORKS(kr_prepared_rebind(prepared, next, &err));
    kr_index_destroy(index);
    WORKS(kr_prepared_run(prepared, NULL, &err));
    read_out(&l, found);
    WORKS(kr_index_lookup_columns(next, &wanted, &l.sink, NULL, &err));
    read_out(&l, want);
    CHECK(!memcmp(want, found, sizeof want));
    kr_prepared_destroy(prepared);
    kr_index_destroy(next);
    kr_index_destroy(single);
    close_lookup(&l);
}

/* Texts get codes in each run, so they go on with a version that has another dictionary. */
static void check_texts(void)
{
    static const int32_t three[] = {0, 2, 4, 6}, two[] = {0, 2, 4};
    static const char key_bytes[] = "bbccbb", new_bytes[] = "aabb";
    void *offsets = bring(device, two, sizeof two), *bytes = bring(device, new_bytes, 4);
    uint64_t *counts = bring(device, NULL, 2 * sizeof *counts), found[2] = {0};
    const kr_column texts = {
        .type = KR_STRING, .count = 3, .data = three, .reserved_words = {(uintptr_t)key_bytes, 6}};
    const kr_column more = {
        .type = KR_STRING, .count = 2, .data = two, .reserved_words = {(uintptr_t)new_bytes, 4}};
    const kr_column asked = {
        .type = KR_STRING, .count = 2, .data = offsets, .reserved_words = {(uintptr_t)bytes, 4}};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_index *index = NULL, *next = NULL;
    kr_prepared *prepared = NULL;
    WORKS(kr_index_create(device, "array", &texts, NULL, NULL, &index, &err));
    WORKS(kr_index_next_version(index, &more, NULL, NULL, NULL, &next, &err));
    WORKS(kr_prepare_lookup(index, &asked, &sink, &prepared, &err));
    WORKS(kr_prepared_rebind(prepared, next, &err));
    kr_index_destroy(index);
    WORKS(kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_memory_copy(device, found, counts, sizeof found, NULL, &err));
    CHECK(found[0] == 1 && found[1] == 3);
    kr_prepared_destroy(prepared);
    kr_index_destroy(next);
    kr_memory_release(device, offsets, sizeof two, NULL);
    kr_memory_release(device, bytes, 4, NULL);
    kr_memory_release(device, counts, sizeof found, NULL);
}

/* ---- Scans ------------------------------------------------------------------------------------------ */

static uint64_t scanned(kr_prepared *prepared, const void *out)
{
    uint64_t count = UINT64_MAX;
    WORKS(kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_memory_copy(device, &count, out, sizeof count, NULL, &err));
    return count;
}

static void check_scans(const char *spec)
{
    const char *const names[] = {"a"};
    const uint8_t valid[KEYS / 8 + 1] = {1};
    const kr_column column[] = {{.type = KR_U32, .count = KEYS, .data = keys}};
    const kr_column with_nulls[] = {{.type = KR_U32, .count = 8, .data = keys, .validity = valid}};
    const kr_table_options copy = {.struct_size = sizeof copy, .copy = KR_COPY_ALWAYS};
    void *out = bring(device, NULL, KEYS);
    kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = out};
    const kr_scan_sink *sinks[] = {&sink};
    kr_condition *condition = NULL;
    kr_table *table = NULL, *longer = NULL, *deleted = NULL, *unlike = NULL;
    kr_prepared *prepared = NULL, *bitmap = NULL;
    WORKS(kr_condition_parse("a < 100", &condition, &err));
    const kr_condition *conditions[] = {condition};
    WORKS(kr_table_create(device, spec, column, names, 1, &copy, NULL, &table, &err));
    WORKS(kr_prepare_scan(table, conditions, sinks, 1, NULL, &prepared, &err));
    sink.result = KR_SCAN_BITMAP;
    WORKS(kr_prepare_scan(table, conditions, sinks, 1, NULL, &bitmap, &err));
    const uint64_t before = scanned(prepared, out);
    WORKS(kr_table_next_append(table, column, 1, NULL, &longer, &err));
    WORKS(kr_table_next_delete_where(longer, condition, NULL, NULL, &deleted, &err));
    WORKS(kr_table_next_append(table, with_nulls, 1, NULL, &unlike, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind_table(bitmap, longer, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind_table(prepared, unlike, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind_table(prepared, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_rebind(prepared, (kr_index *)(void *)table, &err));
    CHECK(scanned(prepared, out) == before);
    WORKS(kr_prepared_rebind_table(prepared, longer, &err));
    CHECK(scanned(prepared, out) == 2 * before);
    kr_table_destroy(longer);
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_prepared_rebind_table(prepared, deleted, &err));
    CHECK(scanned(prepared, out) == 0);
    WORKS(kr_prepared_rebind_table(prepared, table, &err));
    CHECK(scanned(prepared, out) == before);
    kr_prepared_destroy(bitmap);
    kr_prepared_destroy(prepared);
    kr_table_destroy(unlike);
    kr_table_destroy(deleted);
    kr_table_destroy(table);
    kr_condition_destroy(condition);
    kr_memory_release(device, out, KEYS, NULL);
}

/* The plan has the literal as a number of microseconds. */
static void check_units(void)
{
    const char *const names[] = {"t"};
    const int64_t times[4] = {0, 1577836800000000, 1577836800000, INT64_MAX};
    const kr_column column[] = {{.type = KR_TIMESTAMP64, .count = 4, .data = times}};
    const kr_unit millis[] = {KR_UNIT_MS}, micros[] = {KR_UNIT_US};
    kr_table_options options = {.struct_size = sizeof options, .copy = KR_COPY_ALWAYS};
    void *out = bring(device, NULL, sizeof(uint64_t));
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = out};
    const kr_scan_sink *sinks[] = {&sink};
    kr_condition *condition = NULL;
    kr_table *plain = NULL, *same = NULL, *other = NULL;
    kr_prepared *prepared = NULL;
    WORKS(kr_condition_parse("t >= '2020-01-01'", &condition, &err));
    const kr_condition *conditions[] = {condition};
    WORKS(kr_table_create(device, "full", column, names, 1, &options, NULL, &plain, &err));
    options.units = micros;
    WORKS(kr_table_create(device, "full", column, names, 1, &options, NULL, &same, &err));
    options.units = millis;
    WORKS(kr_table_create(device, "full", column, names, 1, &options, NULL, &other, &err));
    WORKS(kr_prepare_scan(plain, conditions, sinks, 1, NULL, &prepared, &err));
    CHECK(scanned(prepared, out) == 2);
    REFUSED(KR_ERR_TYPE, kr_prepared_rebind_table(prepared, other, &err));
    CHECK(scanned(prepared, out) == 2);
    WORKS(kr_prepared_rebind_table(prepared, same, &err));
    CHECK(scanned(prepared, out) == 2);
    kr_prepared_destroy(prepared);
    kr_table_destroy(other);
    kr_table_destroy(same);
    kr_table_destroy(plain);
    kr_condition_destroy(condition);
    kr_memory_release(device, out, sizeof(uint64_t), NULL);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"array", "pivot", "btree", "hash", "cgrx:updates=on"};
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = UINT64_MAX};
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, &options, &device, &err));
    for (uint32_t i = 0; i < KEYS; ++i)
        keys[i] = i * 7919 % SPREAD;
    for (uint32_t i = 0; i < PROBES; ++i) {
        probes[i] = i * 31 % (SPREAD + 9);
        uppers[i] = probes[i] + i % 6;
    }
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        check_versions(specs[i], KR_RESULT_COUNT, 0);
        check_versions(specs[i], KR_RESULT_SUM_ROWS, 0);
        check_versions(specs[i], KR_RESULT_ROWS, 0);
        if (strcmp(specs[i], "hash") != 0)
            check_versions(specs[i], KR_RESULT_ROWS, 1);
    }
    check_wrong();
    check_values();
    check_columns();
    check_texts();
    check_scans("full");
    check_scans("bindex");
    CHECK(in_use(device) == 0);
    check_units();
    kr_device_close(device);
    return failures != 0;
}
