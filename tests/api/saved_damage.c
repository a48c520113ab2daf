/* Damaged files: cut off at every length, every bit of a small file changed, and heads, directories and
 * arrays that are wrong under right checksums. Each is an error that says so; nothing crashes, and nothing
 * stays. */
#include "device_memory.h"
#include "saved_files.h"

enum { N = 60 };

static kr_device *device;
static uint32_t keys[N];
static int holds_table; /* 1: files have a table, 0: an index */
static const kr_column column = {.type = KR_U32, .count = N, .data = keys};

static kr_status load(const bytes *file, kr_error *err)
{
    kr_saved *saved = NULL;
    kr_index *index = NULL;
    kr_table *table = NULL;
    kr_status status = kr_saved_open_memory(file->data, file->n, NULL, &saved, err);
    if (status == KR_OK && holds_table)
        status = kr_table_load(device, saved, NULL, NULL, &table, err);
    else if (status == KR_OK)
        status = kr_index_load(device, saved, NULL, &index, err);
    if (status == KR_OK && index && !kr_index_texts(index))
        answers_of(index, &column, &column);
    kr_table_destroy(table);
    kr_index_destroy(index);
    kr_saved_close(saved);
    return status;
}

/* The text must have `says` in it. */
static void refused(const bytes *file, const char *says)
{
    kr_error err = {0};
    const kr_status status = load(file, &err);
    CHECK(status == KR_ERR_FORMAT && strstr(err.text, says) && !strchr(err.text, '\n'));
    if (status != KR_ERR_FORMAT || !strstr(err.text, says))
        printf("  wanted '%s', got %s '%s'\n", says, kr_status_name(status), err.text);
    CHECK(in_use(device) == 0);
}

static bytes copy_of(const bytes *file)
{
    bytes copy = {malloc(file->n + 1), file->n};
    memcpy(copy.data, file->data, file->n);
    return copy;
}

static bytes make_file(const char *spec)
{
    const kr_attachment attached = {"note", "a few bytes", 11};
    const kr_save_options options = {
        .struct_size = sizeof options, .attachments = &attached, .n_attachments = 1};
    kr_index *index = NULL;
    WORKS(kr_index_create(device, spec, &column, NULL, NULL, &index, &err));
    const bytes file = bytes_of_index(index, &options);
    kr_index_destroy(index);
    return file;
}

/* ---- Without mending ---------------------------------------------------------------------------- */

static void check_cut_off(const bytes *file)
{
    int whole = 0;
    for (uint64_t n = 0; n < file->n; ++n) {
        const bytes part = {file->data, n};
        whole += load(&part, NULL) != KR_ERR_FORMAT;
    }
    CHECK(whole == 0);
    refused(&(bytes){file->data, file->n - 1}, "cut off");
    bytes longer = copy_of(file);
    longer.data[longer.n++] = 0;
    refused(&longer, "too long");
    free(longer.data);
}

/* Under AddressSanitizer every third: a checksum tells all bits alike. */
#ifdef __SANITIZE_ADDRESS__
enum { BIT_STEP = 3 };
#else
enum { BIT_STEP = 1 };
#endif

static void check_every_bit(const bytes *file)
{
    bytes copy = copy_of(file);
    int missed = 0;
    for (uint64_t i = 0; i < file->n; ++i)
        for (int bit = 0; bit < 8; bit += BIT_STEP) {
            copy.data[i] ^= (unsigned char)(1 << bit);
            missed += load(&copy, NULL) == KR_OK;
            copy.data[i] = file->data[i];
        }
    CHECK(missed == 0);
    CHECK(load(&copy, NULL) == KR_OK);
    /* Zeros instead of a byte, and all bits of it. */
    for (uint64_t i = 0; i < file->n; ++i) {
        copy.data[i] = (unsigned char)~file->data[i];
        missed += load(&copy, NULL) == KR_OK;
        copy.data[i] = 0;
        missed += file->data[i] && load(&copy, NULL) == KR_OK;
        copy.data[i] = file->data[i];
    }
    CHECK(missed == 0);
    free(copy.data);
}

/* The error names the array, and the byte where its damaged block begins. */
static void check_place(const bytes *file)
{
    const file_field keys_field = find_field(file, "kind.keys");
    char place[64];
    bytes copy = copy_of(file);
    copy.data[keys_field.offset + 9] ^= 1;
    snprintf(place, sizeof place, "'kind.keys', %u bytes from byte %llu", (unsigned)(N * sizeof *keys),
             (unsigned long long)keys_field.offset);
    refused(&copy, place);
    kr_saved *saved = NULL;
    const kr_saved_options trusted = {.struct_size = sizeof trusted, .verify = KR_VERIFY_HEADER};
    WORKS(kr_saved_open_memory(copy.data, copy.n, &trusted, &saved, &err));
    REFUSED(KR_ERR_FORMAT, kr_saved_check(saved, &err));
    kr_saved_close(saved);
    free(copy.data);
}

/* ---- With checksums that are right -------------------------------------------------------------- */

typedef struct change {
    const char *field; /* NULL: of the file itself */
    uint64_t at;       /* byte of the field's array, or of the file */
    uint64_t number;   /* what it becomes */
    uint32_t nbytes;   /* 0: the value of the field: a number, or how many bytes */
    const char *says;
} change;

static const change changes[] = {
    {NULL, 8, 0x04030201, 4, "other byte order"},
    {NULL, 8, 0x01020305, 4, "no mark of its byte order"},
    {NULL, 12, 2, 4, "format 2"},
    {NULL, 16, 1 << 20, 8, "cut off"},
    {NULL, 24, 8192 + 8, 8, "makes no sense"},
    {NULL, 32, 64, 8, "makes no sense"},
    {NULL, 40, 1, 1, "makes no sense"},
    {NULL, 100, 1, 1, "in a gap"},
    {"what", 0, KR_SAVED_TABLE, 0, "holds a table, not an index"},
    {"what", 0, 3, 0, "does not say what it holds"},
    {"column 0.type", 0, 99, 0, "out of bounds"},
    {"column 0.type", 0, KR_U64, 0, "bytes"},
    {"column 0.texts", 0, 3, 0, "out of bounds"},
    {"rows", 0, N - 1, 0, "row ids"},
    {"rows", 0, UINT64_MAX, 0, "may be"},
    {"row limit", 0, 5, 0, "not below the limit"},
    {"next row", 0, 5, 0, "row limit is 60, and may be 0 to 5"},
    {"next row", 0, (uint64_t)KR_NO_ROW + 1, 0, "may be"},
    {"no key twice", 0, 2, 0, "may be"},
    {"no key twice", 0, 1, 0, "distinct"},
    {"kind.n", 0, N + 1, 0, "bytes"},
    {"kind.n", 0, (uint64_t)1 << 62, 0, "may be"},
    {"kind.n", 0, 0, 0, "bytes"},
    {"kind.lowest", 0, 0, 0, "lowest key"},
    {"kind.highest", 0, UINT32_MAX, 0, "highest key"},
    {"kind.keys", 12, UINT32_MAX, 4, "not ascending"},
    {"kind.keys", 0, 1 << 20, 0, "directory"},
    {"kind.rows", 12, 70, 4, "not below the limit"},
    {"kind.rows", 12, KR_NO_ROW, 4, "row ids"},
};

/* Of a column whose keys ascend. */
static const change changes_in_order[] = {
    {"kind.first row", 0, 1, 0, "not below the limit"},
    {"kind.first row", 0, KR_NO_ROW - N + 1, 0, "may be"},
    {"kind.keys", 12, UINT32_MAX, 4, "not ascending"},
};

static void check_list(const bytes *file, const change *list, size_t n_changes)
{
    for (size_t i = 0; i < n_changes; ++i) {
        const change *one = &list[i];
        bytes copy = copy_of(file);
        if (one->field) {
            const file_field field = find_field(file, one->field);
            CHECK(field.kind != 0);
            put_number(&copy, one->nbytes ? field.offset + one->at : field.value_at, one->number,
                       one->nbytes ? one->nbytes : 8);
        } else {
            put_number(&copy, one->at, one->number, one->nbytes);
        }
        if (one->field && one->nbytes == 0) { /* sums of arrays are right, and sizes may be wrong */
            const uint64_t from = directory_at(&copy), n = copy.n - 4 - from;
            put_number(&copy, copy.n - 4, slow_crc(copy.data + from, n), 4);
        } else if (one->field) {
            mend(&copy);
        }
        put_number(&copy, 60, slow_crc(copy.data, 60), 4);
        const int before = failures;
        refused(&copy, one->says);
        if (failures > before)
            printf("  change %zu, field %s\n", i, one->field ? one->field : "none");
        free(copy.data);
    }
}

/* Texts: another version of the library is fine, a spec that it lacks is not. */
static void check_texts(const bytes *file)
{
    bytes copy = copy_of(file);
    file_field field = find_field(file, "library");
    kr_saved_info info = {.struct_size = sizeof info};
    kr_saved *saved = NULL;
    memcpy(copy.data + field.content_at, "9.9.9", 5);
    mend(&copy);
    CHECK(load(&copy, NULL) == KR_OK);
    WORKS(kr_saved_open_memory(copy.data, copy.n, NULL, &saved, &err));
    WORKS(kr_saved_query(saved, &info, &err));
    CHECK(strcmp(info.version, "9.9.9") == 0 && strncmp(info.spec, "array:", 6) == 0);
    kr_saved_close(saved);
    field = find_field(file, "spec");
    memcpy(copy.data + field.content_at, "arrax", 5);
    mend(&copy);
    REFUSED(KR_ERR_SPEC, load(&copy, &err));
    memcpy(copy.data + field.content_at, "ar\0ay", 5);
    mend(&copy);
    refused(&copy, "directory");
    free(copy.data);
}

/* An index over texts: they must be those of its codes, in order, each once. */
static void check_text_index(void)
{
    static const int32_t ends[] = {0, 3, 6, 9, 12};
    static const char letters[] = "antbeecatant";
    static const change of_texts[] = {
        {"column 0.texts", 0, 3, 0, "out of bounds"},
        {"column 0.text type", 0, KR_U32, 0, "out of bounds"},
        {"column 0.dictionary.ordered", 0, 2, 0, "may be"},
        {"column 0.dictionary.n", 0, 4, 0, "bytes"},
        {"column 0.dictionary.bytes", 0, 8, 0, "bytes"},
        {"column 0.dictionary.offsets", 8, 7, 8, "offsets of texts"},
        {"column 0.dictionary.offsets", 8, 99, 8, "offsets of texts"},
        {"column 0.dictionary.offsets", 0, UINT64_MAX, 8, "offsets of texts"},
        {"column 0.dictionary.texts", 0, 'z', 1, "not in order"},
        {"kind.keys", 12, 9, 4, "highest"},
        {"kind.highest", 0, 9, 0, "highest"},
    };
    const kr_column texts = {
        .type = KR_STRING, .count = 4, .data = ends, .reserved_words = {(uintptr_t)letters, 12}};
    kr_index *index = NULL;
    WORKS(kr_index_create(device, "array", &texts, NULL, NULL, &index, &err));
    const bytes file = bytes_of_index(index, NULL);
    kr_index_destroy(index);
    bytes strange = copy_of(&file);
    CHECK(load(&file, NULL) == KR_OK);
    check_cut_off(&file);
    check_every_bit(&file);
    check_list(&file, of_texts, sizeof of_texts / sizeof *of_texts);
    /* Keys and the highest one agree, and are codes of no text. */
    put_number(&strange, find_field(&file, "kind.keys").offset + 12, 9, 4);
    put_number(&strange, find_field(&file, "kind.highest").value_at, 9, 8);
    mend(&strange);
    refused(&strange, "its largest key is 9, but the dictionary has the codes of 3 texts");
    free(strange.data);
    free(file.data);
}

static bytes bytes_of_table(const kr_table *table)
{
    bytes file = {NULL, 0};
    kr_pieces *pieces = NULL;
    const void *data = NULL;
    uint64_t n = 1, done = 0;
    WORKS(kr_table_pieces(table, NULL, &pieces, &err));
    file.n = kr_pieces_nbytes(pieces);
    file.data = malloc(file.n + 1);
    while (n && done < file.n) {
        WORKS(kr_pieces_next(pieces, &data, &n, NULL, &err));
        memcpy(file.data + done, data, n);
        done += n;
    }
    kr_pieces_destroy(pieces);
    return file;
}

/* A table of texts, two columns of which have one dictionary, and one its own. */
static void check_text_table(void)
{
    static const int32_t ends[] = {0, 3, 6, 9, 12};
    static const char letters[] = "antbeecatant";
    static const change of_texts[] = {
        {"column 0.texts", 0, 4, 0, "may be 0 to 3"},
        {"column 0.texts", 0, 0, 0, "due"},
        {"column 0.dictionary.ordered", 0, 2, 0, "may be"},
        {"column 0.dictionary.n", 0, 4, 0, "bytes"},
        {"column 0.dictionary.offsets", 8, 99, 8, "offsets of texts"},
        {"column 0.dictionary.texts", 0, 'z', 1, "not in order"},
        {"column 0.data", 4, 3, 4, "column 'c0', row 1: 3 is no code of its dictionary, which has 3 texts"},
        {"column 1.texts of column", 0, 1, 0, "may be"},
        {"column 1.data", 8, KR_NO_ROW, 4, "column 'c1', row 2: 4294967295 is no code"},
        {"column 2.data", 12, 9, 4, "column 'c2', row 3: 9 is no code"},
    };
    const kr_column texts = {
        .type = KR_STRING, .count = 4, .data = ends, .reserved_words = {(uintptr_t)letters, 12}};
    const kr_column columns[] = {texts, texts, texts};
    kr_texts *dictionary = NULL;
    kr_table *table = NULL;
    WORKS(kr_texts_create(device, &texts, NULL, NULL, &dictionary, &err));
    const kr_texts *shared[] = {dictionary, dictionary, NULL};
    const kr_table_options options = {.struct_size = sizeof options, .texts = shared};
    WORKS(kr_table_create(device, "full", columns, NULL, 3, &options, NULL, &table, &err));
    const bytes file = bytes_of_table(table);
    kr_table_destroy(table);
    kr_texts_destroy(dictionary);
    holds_table = 1;
    CHECK(load(&file, NULL) == KR_OK);
    check_cut_off(&file);
    check_every_bit(&file);
    check_list(&file, of_texts, sizeof of_texts / sizeof *of_texts);
    holds_table = 0;
    free(file.data);
}

/* A file of before there were narrow copies has the spec without them, which then stands for their default.
 */
static void check_before_narrow(const bytes *file)
{
    static const char said[] = "narrow=off", now[] = "narrow=auto";
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &(uint64_t){0}};
    const kr_scan_sink *sinks[] = {&sink};
    bytes copy = copy_of(file);
    const file_field spec = find_field(&copy, "spec");
    kr_saved *saved = NULL;
    kr_table *table = NULL;
    kr_condition *condition = NULL;
    kr_table_info info = {.struct_size = sizeof info};
    const uint64_t at = spec.content_at + spec.value - strlen(said);
    CHECK(memcmp(copy.data + at, said, strlen(said)) == 0);
    CHECK(full8(spec.value + 2) == full8(spec.value + 1)); /* one more byte does not move what follows */
    memcpy(copy.data + at, now, sizeof now);
    put_number(&copy, spec.value_at, spec.value + 1, 8);
    mend(&copy);
    WORKS(kr_saved_open_memory(copy.data, copy.n, NULL, &saved, &err));
    WORKS(kr_table_load(device, saved, NULL, NULL, &table, &err));
    WORKS(kr_table_append(table, &column, 1, NULL, &err));
    WORKS(kr_table_validate(table, &err));
    WORKS(kr_table_query(table, &info, &err));
    CHECK(strstr(info.spec, now) && info.rows == 2 * N);
    CHECK(!strcmp(kr_table_counter_name(table, 1), "narrow columns") &&
          kr_table_counter_value(table, 1) == 0);
    WORKS(kr_condition_parse("c0 >= 12", &condition, &err));
    WORKS(kr_scan(table, (const kr_condition *const *)&condition, sinks, 1, NULL, NULL, &err));
    CHECK(*(const uint64_t *)sink.out == 2 * (N - 2));
    kr_condition_destroy(condition);
    kr_table_destroy(table);
    kr_saved_close(saved);
    free(copy.data);
}

/* A table with a narrow copy, whose values may be anything; not so what leaves are found by. */
static void check_narrow_table(void)
{
    static const change of_narrow[] = {
        {"kind.narrow 0.bytes", 0, 3, 0, "may be 0 to 2"},
        {"kind.narrow 0.bytes", 0, 2, 0, "bytes"},
        {"kind.narrow 0.bytes", 0, 0, 0, "due"},
        {"kind.narrow 0.highest", 0, 7 + 256, 0, "a narrow copy has values of 1 bytes, for codes 7 to 263"},
        {"kind.narrow 0.highest", 0, 6, 0, "a narrow copy has values"},
        {"kind.narrow 0.lowest", 0, UINT64_MAX, 0, "a narrow copy has values"},
    };
    static const char *const specs[] = {"full", "full:narrow=off"};
    for (uint32_t i = 0; i < 2; ++i) {
        kr_table *table = NULL;
        WORKS(kr_table_create(device, specs[i], &column, NULL, 1, NULL, NULL, &table, &err));
        const bytes file = bytes_of_table(table);
        kr_table_destroy(table);
        holds_table = 1;
        CHECK(load(&file, NULL) == KR_OK);
        if (i == 0)
            check_list(&file, of_narrow, sizeof of_narrow / sizeof *of_narrow);
        else
            check_before_narrow(&file);
        holds_table = 0;
        free(file.data);
    }
}

/* Names, kinds and the order of fields. */
static void check_fields(const bytes *file)
{
    bytes copy = copy_of(file);
    const file_field field = find_field(file, "kind.n");
    const uint64_t name_at = (uint64_t)((const unsigned char *)field.name - file->data);
    copy.data[name_at + 5] = 'm';
    mend(&copy);
    refused(&copy, "field 'kind.n' is due, and there is 'kind.m'");
    copy.data[name_at + 5] = 0;
    mend(&copy);
    refused(&copy, "directory");
    copy.data[name_at + 5] = 'n';
    put_number(&copy, name_at - 24, 4, 4); /* a kind that there is not */
    const uint64_t from = directory_at(&copy), n = copy.n - 4 - from;
    put_number(&copy, copy.n - 4, slow_crc(copy.data + from, n), 4);
    refused(&copy, "directory");
    put_number(&copy, name_at - 24, 1, 4);
    put_number(&copy, from, field_count(file) + 1, 4);
    put_number(&copy, copy.n - 4, slow_crc(copy.data + from, n), 4);
    refused(&copy, "directory");
    put_number(&copy, from, UINT32_MAX, 4);
    put_number(&copy, copy.n - 4, slow_crc(copy.data + from, n), 4);
    refused(&copy, "directory");
    free(copy.data);
}

int main(void)
{
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = 7 + 5 * (i / 2);
    WORKS(kr_device_open("cpu", &options, &device, &err));
    const bytes in_order = make_file("array");
    check_list(&in_order, changes_in_order, sizeof changes_in_order / sizeof *changes_in_order);
    free(in_order.data);
    keys[1] = 12, keys[2] = 7; /* row ids are kept */
    const bytes file = make_file("array");
    CHECK(load(&file, NULL) == KR_OK);
    check_cut_off(&file);
    check_every_bit(&file);
    check_place(&file);
    check_list(&file, changes, sizeof changes / sizeof *changes);
    check_texts(&file);
    check_fields(&file);
    check_text_index();
    check_text_table();
    check_narrow_table();
    CHECK(in_use(device) == 0);
    free(file.data);
    kr_device_close(device);
    return failures != 0;
}
