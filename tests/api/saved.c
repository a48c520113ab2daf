/* Indexes of every kind saved and loaded: from a file that is mapped and from memory, verified or trusted,
 * changed afterwards; their answers, and what they say of themselves, are those of the index that was saved.
 */
#include "saved_files.h"

enum { N = 3000 };

static kr_device *device;
static uint64_t wide[N], near[N];
static uint32_t narrow[N], sparse[N];
static uint8_t some[N / 8 + 1], none[N / 8 + 1];
static char path[64];

/* Kinds by name, and specs that keep other things in memory. */
static const char *const specs[] = {"array:layout=aos",
                                    "array:k=9",
                                    "eytzinger:layout=aos",
                                    "pivot:layout=aos",
                                    "btree:node=16,inner=half",
                                    "hash:filter=off",
                                    "hash:build=insert,probing=double",
                                    "chain:occupancy=2",
                                    "cgrx:updates=on,node=4",
                                    "cgrx:preset=paper,filter=4",
                                    "cgrx:scene=naive,layout=aos,parts=3",
                                    "rx:update=refit,parts=3",
                                    "rx:order=row,prim=aabb,range=anyhit,parts=3",
                                    "rx:prim=sphere,dedupe=off",
                                    "rx:preset=paper"};
enum { SPECS = sizeof specs / sizeof *specs };

/* What an index is made of. */
typedef struct shape {
    const char *name;
    kr_column keys;
    const uint32_t *row_ids;
} shape;

static const shape shapes[] = {
    {"u32 with repeats", {.type = KR_U32, .count = N, .data = narrow}, NULL},
    {"u64, NULLs, sparse row ids", {.type = KR_U64, .count = N, .data = wide, .validity = some}, sparse},
    {"only NULLs", {.type = KR_U32, .count = N, .data = narrow, .validity = none}, NULL},
    {"one row", {.type = KR_I64, .count = 1, .data = wide}, sparse + N - 1},
    {"no rows", {.type = KR_U8, .count = 0}, NULL},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void fill(void)
{
    uint64_t state = 1;
    for (uint32_t i = 0; i < N; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        narrow[i] = (uint32_t)(state >> 50);
        wide[i] = state >> 3;
        near[i] = 99 + (state >> 44) % 60000;
        sparse[i] = i * 1431655u;
    }
    sparse[N - 1] = KR_NO_ROW - 1;
    memset(some, 0xB7, sizeof some);
}

/* ---- Comparing ---------------------------------------------------------------------------------- */

static uint64_t ask(kr_index *index, const shape *of)
{
    kr_column lower = of->keys, upper = of->keys;
    static const uint64_t zeros[ASKED];
    lower.validity = upper.validity = NULL;
    lower.count = upper.count = ASKED;
    if (of->keys.count < ASKED)
        lower.data = upper.data = zeros;
    else
        upper.data = (const char *)of->keys.data + 7 * kr_type_nbytes(of->keys.type);
    return answers_of(index, &lower, &upper);
}

/* What kr_index_query, components and counters say, but for times and peaks. */
static uint64_t describe(const kr_index *index)
{
    kr_index_info info = {.struct_size = sizeof info};
    uint64_t sum = 1;
    const char *name;
    WORKS(kr_index_query(index, &info, &err));
    sum = mix_in(sum, info.spec, strlen(info.spec));
    sum = mix_in(sum, &info.type, sizeof info.type);
    sum = mix_in(sum, &info.rows, sizeof info.rows);
    sum = mix_in(sum, &info.next_row, sizeof info.next_row);
    for (uint32_t i = 0; (name = kr_index_counter_name(index, i)); ++i) {
        const uint64_t value = kr_index_counter_value(index, i);
        sum = mix_in(mix_in(sum, name, strlen(name)), &value, sizeof value);
    }
    return sum;
}

/* Both take the same rows, if the kind takes any, and answer alike afterwards. */
static void change_both(kr_index *a, kr_index *b, const shape *of)
{
    const uint64_t more[2] = {7, 20000};
    const kr_column inserts = {.type = of->keys.type, .count = 2, .data = more};
    kr_column deletes = of->keys;
    const uint32_t rows[2] = {1000000007, 4000000001};
    deletes.validity = NULL;
    deletes.count = deletes.count < 9 ? deletes.count : 9;
    const kr_status status = kr_index_update(a, &inserts, rows, &deletes, NULL, NULL);
    CHECK(kr_index_update(b, &inserts, rows, &deletes, NULL, NULL) == status);
    if (status != KR_OK)
        return;
    WORKS(kr_index_validate(b, &err));
    CHECK(ask(a, of) == ask(b, of));
    CHECK(describe(a) == describe(b));
}

/* ---- Saved and loaded --------------------------------------------------------------------------- */

static void check_info(const kr_saved *saved, const kr_index *index, uint64_t nbytes)
{
    kr_saved_info info = {.struct_size = sizeof info};
    kr_index_info of = {.struct_size = sizeof of};
    const char *name = NULL;
    kr_type type = 0;
    kr_unit unit = KR_UNIT_S;
    int has_texts = 1;
    WORKS(kr_saved_query(saved, &info, &err));
    WORKS(kr_index_query(index, &of, &err));
    WORKS(kr_saved_column(saved, 0, &name, &type, &unit, &has_texts, &err));
    CHECK(info.what == KR_SAVED_INDEX && strcmp(info.spec, of.spec) == 0 && info.rows == of.rows);
    CHECK(info.next_row == of.next_row && info.nbytes == nbytes && info.n_columns == 1 && info.format == 1);
    CHECK(strcmp(info.version, KR_VERSION_STRING) == 0 && info.n_attachments == 0);
    CHECK(type == of.type && !*name && unit == KR_UNIT_NONE && !has_texts);
    REFUSED(KR_ERR_ARGUMENT, kr_saved_column(saved, 1, NULL, NULL, NULL, NULL, &err));
    WORKS(kr_saved_check(saved, &err));
}

/* `from`: the bytes, NULL: the file at `path`. */
static void load_and_compare(kr_index *original, const shape *of, const bytes *from, kr_verify verify,
                             int closed_first)
{
    const kr_saved_options options = {.struct_size = sizeof options, .verify = verify};
    kr_saved *saved = NULL;
    kr_index *index = NULL;
    WORKS(from ? kr_saved_open_memory(from->data, from->n, &options, &saved, &err)
               : kr_saved_open(path, &options, &saved, &err));
    if (!saved)
        return;
    WORKS(kr_index_load(device, saved, NULL, &index, &err));
    if (closed_first)
        kr_saved_close(saved);
    if (index) {
        CHECK(describe(index) == describe(original));
        CHECK(ask(index, of) == ask(original, of));
        WORKS(kr_index_validate(index, &err));
    }
    kr_index_destroy(index);
    if (!closed_first)
        kr_saved_close(saved);
}

static void change_what_is_loaded(kr_index *original, const shape *of)
{
    kr_saved *saved = NULL;
    kr_index *index = NULL;
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_index_load(device, saved, NULL, &index, &err));
    if (index) {
        CHECK(ask(index, of) == ask(original, of)); /* nothing that this has made outlives the mapping */
        change_both(original, index, of);
    }
    kr_saved_close(saved);
    if (index) /* what was mapped is gone */
        CHECK(ask(index, of) == ask(original, of));
    kr_index_destroy(index);
}

/* NULL: the machine cannot, which is printed. */
static kr_index *make_index(const char *spec, const shape *of)
{
    kr_index *index = NULL;
    kr_error err = {0};
    const kr_status status = kr_index_create(device, spec, &of->keys, of->row_ids, NULL, &index, &err);
    if (status != KR_OK && status != KR_ERR_UNSUPPORTED)
        printf("FAILED %s, %s: %s\n", spec, of->name, err.text), ++failures;
    if (status == KR_OK)
        return index;
    printf("skipped %s, %s: %s\n", spec, of->name, err.text);
    return NULL;
}

static void check_index(const char *spec, const shape *of)
{
    kr_index *index = make_index(spec, of);
    const int before = failures;
    if (!index)
        return;
    const bytes saved = bytes_of_index(index, NULL);
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    bytes file = read_bytes(path);
    CHECK(file.n == saved.n && memcmp(file.data, saved.data, saved.n) == 0);
    kr_saved *opened = NULL;
    WORKS(kr_saved_open(path, NULL, &opened, &err));
    if (opened)
        check_info(opened, index, saved.n);
    kr_saved_close(opened);
    for (int i = 0; i < 8; ++i)
        load_and_compare(index, of, i & 1 ? &saved : NULL, i & 2 ? KR_VERIFY_HEADER : KR_VERIFY_ALL, i & 4);
    change_what_is_loaded(index, of);
    kr_index_destroy(index);
    free(file.data);
    free(saved.data);
    if (failures > before)
        printf("  %s, %s\n", spec, of->name);
}

/* Bytes of a mapped index are in its footprint, and not on the device. */
static void check_mapped_memory(void)
{
    kr_index *index = NULL, *mapped = NULL;
    kr_saved *saved = NULL;
    kr_index_info info = {.struct_size = sizeof info}, info_of_mapped = {.struct_size = sizeof info};
    kr_device_info before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    WORKS(kr_index_create(device, "array", &shapes[0].keys, NULL, NULL, &index, &err));
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_device_query(device, &before, &err));
    WORKS(kr_index_load(device, saved, NULL, &mapped, &err));
    WORKS(kr_device_query(device, &after, &err));
    WORKS(kr_index_query(index, &info, &err));
    WORKS(kr_index_query(mapped, &info_of_mapped, &err));
    CHECK(info.footprint_nbytes == info_of_mapped.footprint_nbytes && info.footprint_nbytes > 0);
    CHECK(before.in_use_nbytes == after.in_use_nbytes);
    CHECK(kr_index_phase_name(mapped, 0) && strcmp(kr_index_phase_name(mapped, 0), "read") == 0);
    const kr_column inserts = {.type = KR_U32, .count = 1, .data = narrow};
    WORKS(kr_index_update(mapped, &inserts, NULL, NULL, NULL, &err));
    WORKS(kr_device_query(device, &after, &err));
    CHECK(after.in_use_nbytes == before.in_use_nbytes + info.footprint_nbytes + 8);
    kr_index_destroy(mapped);
    kr_saved_close(saved);
    kr_index_destroy(index);
}

/* ---- Attachments, texts, misuse ----------------------------------------------------------------- */

static void check_attachments(void)
{
    static unsigned char large[3 << 20];
    memset(large, 5, sizeof large);
    const kr_attachment attached[] = {
        {"dictionary of a", "xyz", 3}, {"empty", NULL, 0}, {"large", large, sizeof large}};
    const kr_save_options options = {
        .struct_size = sizeof options, .attachments = attached, .n_attachments = 3};
    kr_index *index = NULL, *again = NULL;
    kr_saved *saved = NULL;
    kr_saved_info info = {.struct_size = sizeof info};
    uint64_t n = 0;
    WORKS(kr_index_create(device, "array", &shapes[0].keys, NULL, NULL, &index, &err));
    WORKS(kr_index_save(index, path, &options, NULL, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_saved_query(saved, &info, &err));
    CHECK(info.n_attachments == 3);
    for (uint32_t i = 0; i < 3; ++i) {
        const char *name = kr_saved_attachment_name(saved, i);
        CHECK(name && strcmp(name, attached[i].name) == 0);
        const void *data = kr_saved_attachment(saved, attached[i].name, &n);
        CHECK(data && n == attached[i].nbytes && (!n || memcmp(data, attached[i].data, n) == 0));
    }
    CHECK(!kr_saved_attachment_name(saved, 3) && !kr_saved_attachment(saved, "none", &n));
    WORKS(kr_index_load(device, saved, NULL, &again, &err));
    if (again)
        CHECK(ask(again, &shapes[0]) == ask(index, &shapes[0]));
    kr_index_destroy(again);
    kr_saved_close(saved);
    kr_index_destroy(index);
}

static void refuse_attachment(const kr_index *index, const kr_attachment *attached, uint32_t n)
{
    const kr_save_options options = {
        .struct_size = sizeof options, .attachments = attached, .n_attachments = n};
    kr_pieces *pieces = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_index_pieces(index, &options, &pieces, &err));
    CHECK(!pieces);
}

static void check_misuse(void)
{
    char name[65];
    memset(name, 'x', 64);
    name[64] = '\0';
    kr_index *index = NULL, *other = NULL;
    kr_saved *saved = NULL;
    kr_progress odd = {.reserved = {1}};
    WORKS(kr_index_create(device, "array", &shapes[0].keys, NULL, NULL, &index, &err));
    refuse_attachment(index, NULL, 1);
    refuse_attachment(index, &(kr_attachment){name, "x", 1}, 1);
    refuse_attachment(index, &(kr_attachment){"", "x", 1}, 1);
    refuse_attachment(index, &(kr_attachment){"x", NULL, 1}, 1);
    refuse_attachment(index, (const kr_attachment[]){{"x", "x", 1}, {"x", "y", 1}}, 2);
    REFUSED(KR_ERR_ARGUMENT, kr_index_pieces(NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_save(index, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_save(index, path, NULL, &odd, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_pieces_next(NULL, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_saved_open(NULL, NULL, &saved, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_saved_open_memory(NULL, 1, NULL, &saved, &err));
    REFUSED(KR_ERR_IO, kr_saved_open("no such file", NULL, &saved, &err));
    REFUSED(KR_ERR_IO, kr_saved_open(".", NULL, &saved, &err));
    kr_saved_options options = {.struct_size = sizeof options, .verify = 2};
    REFUSED(KR_ERR_ARGUMENT, kr_saved_open(path, &options, &saved, &err));
    options = (kr_saved_options){.struct_size = sizeof options, .n_dictionaries = 1};
    REFUSED(KR_ERR_ARGUMENT, kr_saved_open(path, &options, &saved, &err));
    options = (kr_saved_options){.struct_size = sizeof options, .progress = &odd};
    REFUSED(KR_ERR_ARGUMENT, kr_saved_open(path, &options, &saved, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_load(device, NULL, NULL, &other, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_saved_query(NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_saved_check(NULL, &err));
    CHECK(!saved && !other && kr_pieces_nbytes(NULL) == 0 && !kr_saved_attachment_name(NULL, 0));
    kr_pieces_destroy(NULL);
    kr_saved_close(NULL);
    kr_index_destroy(index);
}

static void load_texts(const uint64_t *dictionary, kr_status want, int has_texts)
{
    const kr_saved_options options = {
        .struct_size = sizeof options, .n_dictionaries = dictionary ? 1 : 0, .dictionaries = dictionary};
    kr_column probes = shapes[0].keys;
    uint64_t counts[N];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_saved *saved = NULL;
    kr_index *index = NULL;
    int found = 0;
    WORKS(kr_saved_open(path, &options, &saved, &err));
    WORKS(kr_saved_column(saved, 0, NULL, NULL, NULL, &found, &err));
    CHECK(found == has_texts);
    if (want != KR_OK)
        REFUSED(want, kr_index_load(device, saved, NULL, &index, &err));
    else
        WORKS(kr_index_load(device, saved, NULL, &index, &err));
    if (index && dictionary) {
        REFUSED(KR_ERR_TYPE, kr_index_lookup(index, &probes, &sink, NULL, &err));
        probes.dictionary = *dictionary;
        WORKS(kr_index_lookup(index, &probes, &sink, NULL, &err));
    }
    kr_index_destroy(index);
    kr_saved_close(saved);
}

/* Codes of texts need the dictionary given again, under whatever number it has now. */
static void check_texts(void)
{
    kr_column keys = shapes[0].keys;
    kr_index *index = NULL;
    const uint64_t dictionary = 77;
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    kr_index_destroy(index);
    load_texts(NULL, KR_OK, 0);
    load_texts(&dictionary, KR_ERR_ARGUMENT, 0);
    keys.dictionary = 5;
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    kr_index_destroy(index);
    load_texts(NULL, KR_ERR_ARGUMENT, 1);
    load_texts(&dictionary, KR_OK, 1);
}

/* An index that changes while it is saved: no later piece comes. */
static void check_change_meanwhile(void)
{
    kr_index *index = NULL;
    kr_pieces *pieces = NULL;
    const void *data = NULL;
    uint64_t n = 0;
    const kr_column inserts = {.type = KR_U32, .count = 1, .data = narrow};
    WORKS(kr_index_create(device, "array", &shapes[0].keys, NULL, NULL, &index, &err));
    WORKS(kr_index_pieces(index, NULL, &pieces, &err));
    WORKS(kr_pieces_next(pieces, &data, &n, NULL, &err));
    CHECK(data && n == 64);
    WORKS(kr_index_update(index, &inserts, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_pieces_next(pieces, &data, &n, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_pieces_next(pieces, &data, &n, NULL, &err));
    kr_pieces_destroy(pieces);
    kr_index_destroy(index);
}

/* Kind `dense` holds keys that lie near each other. */
static void check_kind(const char *kind, const shape *of)
{
    shape held = *of;
    if (strcmp(kind, "dense") == 0 && held.keys.data == wide)
        held.keys.data = near;
    check_index(kind, &held);
}

int main(void)
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    kr_device_info info = {.struct_size = sizeof info};
    fill();
    snprintf(path, sizeof path, "saved-%ld.krx", (long)getpid());
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    for (int i = 0; i < SHAPES; ++i) {
        for (uint32_t ordinal = 0; kr_kind_query(ordinal, &kind, NULL) == KR_OK; ++ordinal)
            if (kind.capabilities & KR_CAN_POINT)
                check_kind(kind.name, &shapes[i]);
        for (int j = 0; j < SPECS; ++j)
            if (capabilities_of(specs[j]))
                check_index(specs[j], &shapes[i]);
    }
    check_mapped_memory();
    check_attachments();
    check_misuse();
    check_texts();
    check_change_meanwhile();
    WORKS(kr_device_query(device, &info, &err));
    CHECK(info.in_use_nbytes == 0);
    kr_device_close(device);
    remove(path);
    return failures != 0;
}
