/* kr_index_next_version: every kind that takes updates answers in a version as a model of its rows says, and
 * the older version as before. Versions of versions, destroyed in any order; caps; wrong calls. */
#include "check.h"
#include "device_name.h"
#include "random.h"

enum { KEYS = 64, ROWS_MOST = 4096, FIRST = 700, STEPS = 6 };

/* The rows of an index, found by going through all of them. */
typedef struct model {
    uint32_t key[ROWS_MOST];
    uint8_t is_alive[ROWS_MOST];
    uint32_t n; /* row ids given so far */
} model;

static void model_add(model *m, uint32_t key)
{
    m->key[m->n] = key;
    m->is_alive[m->n++] = 1;
}

static void model_delete(model *m, uint32_t key)
{
    for (uint32_t r = 0; r < m->n; ++r)
        if (m->key[r] == key)
            m->is_alive[r] = 0;
}

static uint64_t model_rows(const model *m)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < m->n; ++r)
        n += m->is_alive[r];
    return n;
}

/* Counts and first rows of all keys, and of some that there are not. */
static void expect(kr_index *index, const model *m, const char *spec)
{
    uint32_t probed[KEYS + 8], rows[KEYS + 8] = {0};
    uint64_t counts[KEYS + 8] = {0};
    const kr_column probes = {.type = KR_U32, .count = KEYS + 8, .data = probed};
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = rows};
    kr_index_info info = {.struct_size = sizeof info};
    const int before = failures;
    for (uint32_t i = 0; i < KEYS + 8; ++i)
        probed[i] = i * 3;
    WORKS(kr_index_lookup(index, &probes, &count, NULL, &err));
    WORKS(kr_index_lookup(index, &probes, &row, NULL, &err));
    WORKS(kr_index_validate(index, &err));
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.rows == model_rows(m) && info.next_row == m->n);
    CHECK(info.footprint_nbytes > 0);
    for (uint32_t i = 0; i < KEYS + 8; ++i) {
        uint64_t want = 0;
        uint32_t first = KR_NO_ROW;
        for (uint32_t r = m->n; r-- > 0;)
            if (m->is_alive[r] && m->key[r] == probed[i]) {
                ++want;
                first = r;
            }
        CHECK(counts[i] == want && rows[i] == first);
    }
    if (failures > before)
        printf("with %s\n", spec);
}

static kr_index *create(kr_device *device, const char *spec, kr_rng *random, model *m)
{
    kr_index *index = NULL;
    kr_error why = {0};
    m->n = 0;
    for (uint32_t i = 0; i < FIRST; ++i)
        model_add(m, (uint32_t)kr_rng_below(random, KEYS) * 3);
    const kr_column keys = {.type = KR_U32, .count = FIRST, .data = m->key};
    if (kr_index_create(device, spec, &keys, NULL, NULL, &index, &why) != KR_OK)
        printf("%s is left out: %s\n", spec, why.text);
    return index;
}

/* A version of random changes; `m` becomes its model. */
static kr_index *make_next(kr_index *index, kr_rng *random, uint32_t n_most, model *m)
{
    uint32_t inserted[64], deleted[4];
    const uint64_t n = kr_rng_below(random, n_most + 1), n_deleted = kr_rng_below(random, 4);
    const kr_column inserts = {.type = KR_U32, .count = n, .data = inserted};
    const kr_column deletes = {.type = KR_U32, .count = n_deleted, .data = deleted};
    kr_index *next = NULL;
    for (uint64_t i = 0; i < n_deleted; ++i) {
        deleted[i] = (uint32_t)kr_rng_below(random, KEYS) * 3;
        model_delete(m, deleted[i]);
    }
    for (uint64_t i = 0; i < n; ++i)
        model_add(m, inserted[i] = (uint32_t)kr_rng_below(random, KEYS) * 3);
    WORKS(kr_index_next_version(index, &inserts, NULL, &deletes, NULL, &next, &err));
    return next;
}

/* A chain of versions, all of which answer; destroyed from either end. */
static void check_chain(kr_device *device, const char *spec, int oldest_first)
{
    kr_rng random = {(uint64_t)oldest_first + 5};
    static model models[STEPS];
    kr_index *versions[STEPS] = {create(device, spec, &random, &models[0])};
    if (!versions[0])
        return;
    for (int i = 1; i < STEPS; ++i) {
        models[i] = models[i - 1];
        versions[i] = make_next(versions[i - 1], &random, i == 3 ? 0 : 60, &models[i]);
        if (!versions[i])
            return;
    }
    for (int i = 0; i < STEPS; ++i)
        expect(versions[i], &models[i], spec);
    for (int i = 0; i < STEPS; ++i) {
        const int gone = oldest_first ? i : STEPS - 1 - i;
        kr_index_destroy(versions[gone]);
        for (int j = oldest_first ? gone + 1 : 0; j < (oldest_first ? STEPS : gone); ++j)
            expect(versions[j], &models[j], spec);
    }
}

/* Updates in place of a version, and of what it was made of, do not meet. */
static void check_apart(kr_device *device, const char *spec)
{
    kr_rng random = {9};
    static model older, later;
    kr_index *index = create(device, spec, &random, &older);
    if (!index)
        return;
    later = older;
    kr_index *next = make_next(index, &random, 0, &later);
    const uint32_t key = 9;
    const kr_column one = {.type = KR_U32, .count = 1, .data = &key};
    WORKS(kr_index_update(next, &one, NULL, NULL, NULL, &err));
    model_add(&later, key);
    WORKS(kr_index_update(index, NULL, NULL, &one, NULL, &err));
    model_delete(&older, key);
    expect(index, &older, spec);
    expect(next, &later, spec);
    kr_index_destroy(index);
    kr_index_destroy(next);
}

static uint64_t in_use(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    WORKS(kr_device_query(device, &info, &err));
    return info.in_use_nbytes;
}

/* A thousand versions, each made of the one before, hold the memory of one. */
static void check_thousand(kr_device *device, const char *spec)
{
    kr_rng random = {3};
    static model m;
    const uint64_t before = in_use(device);
    uint64_t most = 0;
    kr_index *index = create(device, spec, &random, &m);
    if (!index)
        return;
    for (int i = 0; i < 1000 && index; ++i) {
        kr_index *next = make_next(index, &random, 3, &m);
        kr_index_destroy(index);
        index = next;
        kr_index_info info = {.struct_size = sizeof info};
        if (index)
            WORKS(kr_index_query(index, &info, &err));
        CHECK(in_use(device) - before == info.footprint_nbytes);
        most = info.footprint_nbytes > most ? info.footprint_nbytes : most;
    }
    if (index)
        expect(index, &m, spec);
    kr_index_destroy(index);
    CHECK(most < 1 << 20 && in_use(device) == before);
}

/* 1: a version fits beside `index` where `left` bytes may be taken. Where it does not, the call says so, and
 * `index` is whole. */
static int fits(kr_device *device, kr_index *index, uint64_t left, const char *spec, const model *m)
{
    const uint32_t key = 6;
    const kr_column one = {.type = KR_U32, .count = 1, .data = &key};
    kr_device_info info = {.struct_size = sizeof info};
    kr_index *next = NULL;
    kr_error why = {0};
    void *ballast = NULL;
    WORKS(kr_device_query(device, &info, &err));
    const uint64_t held = info.in_use_nbytes, nbytes = info.memory_cap_nbytes - held - left;
    WORKS(kr_memory_allocate(device, nbytes, NULL, &ballast, &err));
    const kr_status status = kr_index_next_version(index, &one, NULL, &one, NULL, &next, &why);
    if (status != KR_OK)
        CHECK(status == KR_ERR_DEVICE_MEMORY && !next && strstr(why.text, "bytes needed"));
    kr_index_destroy(next);
    kr_memory_release(device, ballast, nbytes, NULL);
    CHECK(in_use(device) == held);
    if (status != KR_OK)
        expect(index, m, spec);
    return status == KR_OK;
}

/* A cap counts both versions. */
static void check_cap(const char *name, const char *spec)
{
    kr_rng random = {11};
    static model m;
    kr_device *device = NULL;
    kr_index_info info = {.struct_size = sizeof info};
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = 64 << 20};
    WORKS(kr_device_open(name, &options, &device, &err));
    kr_index *index = create(device, spec, &random, &m);
    if (index) {
        WORKS(kr_index_query(index, &info, &err));
        const uint64_t step = info.footprint_nbytes / 4 + 1;
        uint64_t left = 0;
        while (left < 32 << 20 && !fits(device, index, left, spec, &m))
            left += step;
        CHECK(left >= info.footprint_nbytes / 2 && left < 32 << 20);
    }
    kr_index_destroy(index);
    kr_device_close(device);
}

static void check_wrong(kr_device *device)
{
    kr_rng random = {1};
    static model m;
    const uint32_t key = 1, no_row = KR_NO_ROW;
    const kr_column one = {.type = KR_U32, .count = 1, .data = &key};
    const kr_column signed_one = {.type = KR_I32, .count = 1, .data = &key};
    kr_index *index = create(device, "array", &random, &m), *next = NULL, *mapped = NULL;
    if (!index)
        return;
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version(NULL, &one, NULL, NULL, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version(index, &one, NULL, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version(index, NULL, &key, NULL, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version(index, &one, &no_row, NULL, NULL, &next, &err));
    REFUSED(KR_ERR_TYPE, kr_index_next_version(index, &signed_one, NULL, NULL, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version_columns(index, &one, NULL, NULL, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version_columns(NULL, &one, NULL, NULL, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version_columns(index, &one, NULL, NULL, NULL, NULL, &err));
    CHECK(!next);
    expect(index, &m, "array");
    kr_index_destroy(index);
    /* A kind that takes no updates makes no versions, and says which do. */
    const kr_column keys = {.type = KR_U32, .count = FIRST, .data = m.key};
    if (kr_index_create(device, "rx", &keys, NULL, NULL, &mapped, NULL) == KR_OK)
        REFUSED(KR_ERR_UNSUPPORTED, kr_index_next_version(mapped, &one, NULL, NULL, NULL, &next, &err));
    kr_index_destroy(mapped);
    if (kr_index_create(device, "cgrx", &keys, NULL, NULL, &mapped, NULL) != KR_OK)
        return;
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_next_version(mapped, &one, NULL, NULL, NULL, &next, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_next_version(mapped, NULL, NULL, NULL, NULL, &next, &err));
    CHECK(!next);
    kr_index_destroy(mapped);
}

/* ---- Several columns ----------------------------------------------------------------------------- */

static uint64_t count_pairs(kr_index *index, uint64_t a, uint64_t b)
{
    uint64_t count = 99;
    const kr_column columns[2] = {{.type = KR_U64, .count = 1, .data = &a},
                                  {.type = KR_U64, .count = 1, .data = &b}};
    const kr_column_probes probes = {.struct_size = sizeof probes, .columns = columns, .n_columns = 2};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = &count};
    WORKS(kr_index_lookup_columns(index, &probes, &sink, NULL, &err));
    return count;
}

/* Values so far apart that columns become ranks, which versions share. */
static void check_columns(kr_device *device)
{
    static uint64_t a[200], b[200];
    const uint64_t more = 5ull << 40, other = 7ull << 50;
    const uint64_t before = in_use(device);
    const kr_column columns[2] = {{.type = KR_U64, .count = 200, .data = a},
                                  {.type = KR_U64, .count = 200, .data = b}};
    const kr_column pair[2] = {{.type = KR_U64, .count = 1, .data = &more},
                               {.type = KR_U64, .count = 1, .data = &other}};
    kr_index *versions[3] = {NULL};
    for (uint64_t i = 0; i < 200; ++i) {
        a[i] = (i % 20) << 40;
        b[i] = (i % 10) << 50;
    }
    kr_error why = {0};
    if (kr_index_create_columns(device, "array", columns, 2, NULL, NULL, &versions[0], &why) != KR_OK) {
        printf("columns are left out: %s\n", why.text);
        return;
    }
    WORKS(kr_index_next_version_columns(versions[0], pair, NULL, NULL, NULL, &versions[1], &err));
    WORKS(kr_index_next_version_columns(versions[1], NULL, NULL, pair, NULL, &versions[2], &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_next_version(versions[0], pair, NULL, NULL, NULL, &versions[2], &err));
    CHECK(count_pairs(versions[0], more, other) == 0 &&
          count_pairs(versions[0], 5ull << 40, 5ull << 50) == 10);
    CHECK(count_pairs(versions[1], more, other) == 1 &&
          count_pairs(versions[1], 5ull << 40, 5ull << 50) == 10);
    kr_index_destroy(versions[0]);
    CHECK(count_pairs(versions[2], more, other) == 0 &&
          count_pairs(versions[2], 5ull << 40, 5ull << 50) == 10);
    kr_index_destroy(versions[2]);
    CHECK(count_pairs(versions[1], more, other) == 1);
    WORKS(kr_index_validate(versions[1], &err));
    kr_index_destroy(versions[1]);
    CHECK(in_use(device) == before);
}

/* ---- Texts --------------------------------------------------------------------------------------- */

static kr_column texts_of(const int32_t *offsets, uint64_t n, const char *bytes)
{
    return (kr_column){
        .type = KR_STRING, .count = n, .data = offsets, .reserved_words = {(uintptr_t)bytes, strlen(bytes)}};
}

static uint64_t count_text(kr_index *index, const char *text)
{
    const int32_t offsets[2] = {0, (int32_t)strlen(text)};
    const kr_column probes = texts_of(offsets, 1, text);
    uint64_t count = 99;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = &count};
    WORKS(kr_index_lookup(index, &probes, &sink, NULL, &err));
    return count;
}

/* New texts make a dictionary of the version's own; older versions keep theirs. */
static void check_texts(kr_device *device, const char *spec)
{
    static const int32_t three[] = {0, 2, 4, 6}, two[] = {0, 2, 4}, one[] = {0, 2};
    const kr_column keys = texts_of(three, 3, "bbccbb"), fresh = texts_of(two, 2, "aabb");
    const kr_column gone = texts_of(one, 1, "cc");
    const uint64_t before = in_use(device);
    kr_index *versions[4] = {NULL};
    kr_error why = {0};
    if (kr_index_create(device, spec, &keys, NULL, NULL, &versions[0], &why) != KR_OK) {
        printf("texts with %s are left out: %s\n", spec, why.text);
        return;
    }
    WORKS(kr_index_next_version(versions[0], &fresh, NULL, NULL, NULL, &versions[1], &err));
    WORKS(kr_index_next_version(versions[0], NULL, NULL, &gone, NULL, &versions[2], &err));
    WORKS(kr_index_next_version(versions[1], NULL, NULL, &gone, NULL, &versions[3], &err));
    static const uint64_t want[4][3] = {{0, 2, 1}, {1, 3, 1}, {0, 2, 0}, {1, 3, 0}};
    for (int gone_one = 0; gone_one < 4; ++gone_one) {
        for (int i = gone_one; i < 4; ++i) {
            CHECK(count_text(versions[i], "aa") == want[i][0]);
            CHECK(count_text(versions[i], "bb") == want[i][1]);
            CHECK(count_text(versions[i], "cc") == want[i][2]);
            WORKS(kr_index_validate(versions[i], &err));
        }
        kr_index_destroy(versions[gone_one]);
    }
    CHECK(in_use(device) == before);
}

/* ---- Mapped files -------------------------------------------------------------------------------- */

static void check_mapped(kr_device *device, const char *spec)
{
    static const char path[] = "versions_test.krx";
    kr_rng random = {21};
    static model older, later;
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    kr_index *index = create(device, spec, &random, &older);
    if (!index)
        return;
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    kr_index_destroy(index);
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_index_load(device, saved, NULL, &loaded, &err));
    kr_saved_close(saved);
    if (!loaded)
        return;
    later = older;
    kr_index *next = make_next(loaded, &random, 20, &later);
    expect(loaded, &older, spec);
    kr_index_destroy(loaded);
    if (next)
        expect(next, &later, spec);
    kr_index_destroy(next);
    remove(path);
}

static void check_spec(kr_device *device, const char *name, const char *spec)
{
    check_chain(device, spec, 0);
    check_chain(device, spec, 1);
    check_apart(device, spec);
    check_thousand(device, spec);
    check_cap(name, spec);
    check_mapped(device, spec);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"array",          "array:layout=aos",
                                        "eytzinger",      "eytzinger:stop=hit",
                                        "pivot",          "btree",
                                        "btree:fill=0.5", "hash",
                                        "chain",          "cgrx:updates=on",
                                        "best:updates=on"};
    kr_device *device = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = UINT64_MAX};
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, &options, &device, &err));
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i)
        check_spec(device, device_name, specs[i]);
    check_wrong(device);
    check_columns(device);
    check_texts(device, "array");
    check_texts(device, "hash");
    kr_device_close(device);
    return failures != 0;
}
