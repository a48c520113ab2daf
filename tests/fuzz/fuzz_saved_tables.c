/* Tables of crafted files: the file of a small table is taken apart, changed where bytes say so, and put
 * together with right checksums. It is refused, or its scans and changes stay within their memory, whatever
 * rows they give. The first byte names the spec; then come plans of changes. */
#include "remade.h"
#include "standalone.h"

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2100, MORE = 70, COLUMNS = 4, PLANS_MOST = 6, EACH = 3 };

static const char *const specs[] = {
    "full:narrow=on",
    "full:narrow=off",
    "bindex:vectors=7",
    "bindex:vectors=40",
    "bindex:refine=scatter,vectors=9",
    "rtscan:vectors=6,width=20",
    "rtscan:encode=off,vectors=5,width=20,scenes=lazy,pack=3",
    "rtc3:rays=12",
    "rtc1:rays=40",
};
enum { SPECS = sizeof specs / sizeof *specs };

static struct {
    unsigned char *bytes; /* of a table after an append and a delete; NULL: the spec is not there */
    uint64_t nbytes;
} files[SPECS];

static uint32_t a[ROWS + MORE];
static int64_t b[ROWS + MORE];
static uint8_t c[ROWS + MORE], validity[(ROWS + MORE) / 8 + 1];
static char letters[(ROWS + MORE) * EACH]; /* texts of three letters */
static int32_t ends[ROWS + MORE + 1];
static uint64_t n_loaded;

static void require(int held, const char *what, const char *text)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: %s\n", what, text);
    abort();
}

static kr_device *open_device(void)
{
    static kr_device *device;
    kr_error err = {0};
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    if (!device)
        require(kr_device_open("cpu", &options, &device, &err) == KR_OK, "the device opens", err.text);
    return device;
}

static void describe(uint64_t first, uint64_t n, kr_column columns[COLUMNS])
{
    columns[0] = (kr_column){.type = KR_U32, .count = n, .data = a + first, .validity = validity};
    columns[0].validity_offset = first;
    columns[1] = (kr_column){.type = KR_I64, .count = n, .data = b + first};
    columns[2] = (kr_column){.type = KR_U8, .count = n, .data = c + first};
    columns[3] = (kr_column){.type = KR_STRING,
                             .count = n,
                             .data = ends + first,
                             .validity = validity,
                             .validity_offset = first,
                             .reserved_words = {(uintptr_t)letters, sizeof letters}};
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void keep_bytes(uint32_t spec, const kr_table *table)
{
    kr_pieces *pieces = NULL;
    const void *piece = NULL;
    uint64_t nbytes = 1, at = 0;
    double fraction = 0;
    kr_error err = {0};
    require(kr_table_pieces(table, NULL, &pieces, &err) == KR_OK, "a table is saved", err.text);
    files[spec].nbytes = kr_pieces_nbytes(pieces);
    files[spec].bytes = malloc(files[spec].nbytes);
    while (nbytes) {
        require(kr_pieces_next(pieces, &piece, &nbytes, &fraction, &err) == KR_OK, "pieces follow", err.text);
        if (nbytes)
            memcpy(files[spec].bytes + at, piece, nbytes);
        at += nbytes;
    }
    kr_pieces_destroy(pieces);
}

static void make_file(uint32_t spec)
{
    static const uint32_t gone[] = {0, 5, 1000, ROWS - 1};
    kr_column columns[COLUMNS];
    kr_table *table = NULL;
    kr_error err = {0};
    describe(0, ROWS - MORE, columns);
    const kr_status status =
        kr_table_create(open_device(), specs[spec], columns, NULL, COLUMNS, NULL, NULL, &table, &err);
    if (status == KR_ERR_UNSUPPORTED || status == KR_ERR_SPEC)
        return;
    require(status == KR_OK, specs[spec], err.text);
    describe(ROWS - MORE, MORE, columns);
    require(kr_table_append(table, columns, COLUMNS, NULL, &err) == KR_OK, "rows are appended", err.text);
    require(kr_table_delete(table, gone, 4, NULL, NULL, &err) == KR_OK, "rows are deleted", err.text);
    keep_bytes(spec, table);
    kr_table_destroy(table);
}

static void make_files(void)
{
    uint64_t state = 9;
    for (uint32_t i = 0; i < ROWS + MORE; ++i) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        a[i] = i / 2 + (uint32_t)(state >> 60);
        b[i] = (int64_t)(state >> 30) % 1000 - 500;
        c[i] = (uint8_t)(state >> 40);
        for (uint32_t j = 0; j < EACH; ++j) /* those behind all rows are new to the dictionary */
            letters[i * EACH + j] = (char)((i < ROWS ? 'a' : 'f') + (state >> (10 + 7 * j)) % 5);
        ends[i + 1] = (int32_t)((i + 1) * EACH);
        validity[i / 8] |= (uint8_t)((state >> 50) % 5 ? 1 << i % 8 : 0);
    }
    for (uint32_t spec = 0; spec < SPECS; ++spec)
        make_file(spec);
}

/* ---- What is done with a table of a crafted file ---------------------------------------------- */

static kr_condition *parsed[11];
enum { CONDITIONS = sizeof parsed / sizeof *parsed };

static void parse_conditions(void)
{
    static const char *const texts[CONDITIONS] = {"",
                                                  "c0 < 500",
                                                  "c0 between 90 and 700 and c1 > 3",
                                                  "c0 is null or c2 in (1, 5, 7, 90, 200)",
                                                  "not (c1 = 5 or c2 >= 100)",
                                                  "c1 between -20 and 30 and c2 < 40 and c0 <> 7",
                                                  "c2 = 0 or c2 = 255",
                                                  "c0 > 4294967290",
                                                  "c3 like 'b%' or c3 >= 'e' and c1 > 0",
                                                  "c3 like '%c_' and c0 < 900",
                                                  "c3 in ('abc', 'edc', 'zzz') or c3 is null"};
    for (uint32_t i = 0; i < CONDITIONS && !parsed[i]; ++i)
        require(kr_condition_parse(texts[i], &parsed[i], NULL) == KR_OK, "a condition is read", texts[i]);
}

/* Names of columns, types and numbers of them may have changed, so any answer and any error is right. */
static void scan(kr_table *table)
{
    static uint32_t rows[1 << 16];
    kr_table_info info = {.struct_size = sizeof info};
    char text[512];
    require(kr_table_query(table, &info, NULL) == KR_OK && info.rows < 1 << 16, "a table is small",
            info.spec);
    for (uint32_t i = 0; i < CONDITIONS; ++i) {
        uint64_t counts[2] = {0}, sum[2] = {0};
        kr_scan_sink sinks[] = {{.result = KR_SCAN_ROWS, .rows = rows, .rows_capacity = 1 << 16},
                                {.result = KR_SCAN_COUNT},
                                {.result = KR_SCAN_SUM, .column = 1},
                                {.result = KR_SCAN_MAX, .column = info.columns - 1}};
        const kr_scan_sink *pointers[] = {sinks, sinks + 1, sinks + 2, sinks + 3};
        const kr_condition *same[] = {parsed[i], parsed[i], parsed[(i + 1) % CONDITIONS], parsed[i]};
        for (int s = 0; s < 4; ++s) {
            sinks[s].struct_size = sizeof *sinks;
            sinks[s].out = s < 2 ? counts + s : sum + s - 2;
        }
        kr_scan(table, same, pointers, 4, NULL, NULL, NULL);
        kr_scan_explain(table, parsed[i], text, sizeof text, NULL);
        for (uint64_t r = 0; r < counts[0]; ++r)
            require(rows[r] < info.rows, "row ids are those of rows", info.spec);
    }
}

static void use(kr_table *table)
{
    const uint32_t gone[] = {3, 4, 77};
    kr_column more[COLUMNS];
    kr_error err = {0};
    scan(table);
    kr_table_validate(table, &err);
    describe(ROWS, MORE, more);
    kr_table_append(table, more, COLUMNS, NULL, NULL);
    kr_table_delete(table, gone, 3, NULL, NULL, NULL);
    scan(table);
    kr_table_validate(table, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    kr_saved *saved = NULL;
    kr_table *table = NULL;
    kr_error err = {0};
    uint64_t n = 0;
    if (!parsed[0]) {
        parse_conditions();
        make_files();
    }
    const uint32_t spec = nbytes ? data[0] % SPECS : 0;
    if (!nbytes || !files[spec].bytes)
        return 0;
    kr_remade remade = kr_remade_take_apart(files[spec].bytes, files[spec].nbytes);
    for (size_t at = 1, plans = 0; at + KR_REMADE_PLAN <= nbytes && plans < PLANS_MOST;
         at += KR_REMADE_PLAN, ++plans)
        kr_remade_change(&remade, data + at);
    unsigned char *bytes = kr_remade_put_together(&remade, &n);
    kr_remade_release(&remade);
    kr_status status = kr_saved_open_memory(bytes, n, NULL, &saved, &err);
    if (status == KR_OK)
        status = kr_table_load(open_device(), saved, NULL, NULL, &table, &err);
    require(status == KR_OK || (err.status == status && err.text[0]), "an error says what is wrong",
            specs[spec]);
    if (status == KR_OK)
        use(table);
    n_loaded += status == KR_OK;
    kr_table_destroy(table);
    kr_saved_close(saved);
    free(bytes);
    return 0;
}

#ifndef KR_LIBFUZZER
static kr_field *field_of(const kr_remade *remade, const char *name)
{
    for (uint32_t i = 0; i < remade->list.n; ++i)
        if (!strcmp(remade->list.fields[i].name, name))
            return remade->list.fields + i;
    abort();
}

/* A file whose second column has the name of the first, or none. */
static void check_names(int has_one)
{
    kr_remade remade = kr_remade_take_apart(files[0].bytes, files[0].nbytes);
    kr_field *field = field_of(&remade, "column 1.name");
    const char *name = has_one ? field_of(&remade, "column 0.name")->data : "";
    kr_saved *saved = NULL;
    kr_table *table = NULL;
    kr_error err = {0};
    uint64_t n = 0;
    field->value = strlen(name);
    memcpy((char *)field->data, name, field->value + 1);
    unsigned char *bytes = kr_remade_put_together(&remade, &n);
    kr_remade_release(&remade);
    require(kr_saved_open_memory(bytes, n, NULL, &saved, &err) == KR_OK, "the file opens", err.text);
    require(kr_table_load(open_device(), saved, NULL, NULL, &table, &err) == KR_ERR_FORMAT &&
                strstr(err.text, has_one ? "columns 0 and 1" : "column 1"),
            "a column without a name of its own is refused", err.text);
    kr_saved_close(saved);
    free(bytes);
}

enum { RUNS_OF_A_SPEC = 250 };

static void run_random(int runs)
{
    uint64_t state = 42;
    for (int run = 0; run < runs; ++run) {
        uint8_t data[1 + 3 * KR_REMADE_PLAN];
        const size_t nbytes = 1 + (size_t)(next_random(&state) % 3 + 1) * KR_REMADE_PLAN;
        for (size_t i = 0; i < nbytes; ++i)
            data[i] = (uint8_t)next_random(&state);
        data[0] = (uint8_t)(run % SPECS);
        run_copy(data, nbytes);
    }
}

int main(int argc, char **argv)
{
    int failed = 0;
    uint64_t n_there = 0;
    const char *runs = getenv("KEYRAY_FUZZ_RUNS");
    for (int i = 1; i < argc; ++i)
        failed += run_file(argv[i]);
    for (uint8_t spec = 0; spec < SPECS && argc < 2; ++spec)
        run_copy(&spec, 1);
    for (uint8_t spec = 0; spec < SPECS; ++spec)
        n_there += files[spec].bytes != NULL;
    require(argc > 1 || n_loaded == n_there, "a file that is not changed is loaded", "each spec");
    if (argc < 2) {
        check_names(1);
        check_names(0);
        run_random(runs ? atoi(runs) : (int)SPECS * RUNS_OF_A_SPEC);
    }
    printf("%llu crafted files were loaded\n", (unsigned long long)n_loaded);
    for (uint32_t i = 0; i < CONDITIONS; ++i)
        kr_condition_destroy(parsed[i]);
    for (uint32_t spec = 0; spec < SPECS; ++spec)
        free(files[spec].bytes);
    kr_device_close(open_device());
    return failed != 0;
}
#endif
