/* kr_table_next_append, kr_table_next_delete and kr_table_next_delete_where: every kind answers in a version
 * as a model of its rows says, and older versions as before, whatever changes and in whatever order they are
 * destroyed. Threads scan while a writer makes versions. */
#include "check.h"
#include "device_memory.h"
#include "device_name.h"
#include "random.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROWS_MOST = 4096, FIRST = 1100, STEPS = 8, VALUES = 100, COLUMNS = 2, THREADS = 4 };

static const char *const names[COLUMNS] = {"a", "b"};
static kr_device *device;

/* Column b is NULL where a is a multiple of 10, from row NULLS_FROM on. */
enum { NULLS_FROM = 500 };

typedef struct model {
    uint32_t a[ROWS_MOST];
    int16_t b[ROWS_MOST];
    uint8_t is_alive[ROWS_MOST], is_null[ROWS_MOST];
    uint32_t n;
} model;

static void model_add(model *m, kr_rng *random)
{
    const uint32_t i = m->n++;
    m->a[i] = (uint32_t)kr_rng_below(random, VALUES);
    m->b[i] = (int16_t)((int)kr_rng_below(random, VALUES) - VALUES / 2);
    m->is_alive[i] = 1;
    m->is_null[i] = i >= NULLS_FROM && m->a[i] % 10 == 0;
}

/* Rows `first` to the last of the model, as columns. */
typedef struct rows {
    uint8_t bits[ROWS_MOST / 8 + 1];
    kr_column columns[COLUMNS];
} rows;

static const kr_column *rows_from(const model *m, uint32_t first, int has_nulls, rows *r)
{
    const uint32_t n = m->n - first;
    memset(r->bits, 0, sizeof r->bits);
    for (uint32_t i = 0; i < n; ++i)
        if (!m->is_null[first + i])
            r->bits[i / 8] |= (uint8_t)(1u << i % 8);
    r->columns[0] = (kr_column){.type = KR_U32, .count = n, .data = m->a + first};
    r->columns[1] =
        (kr_column){.type = KR_I16, .count = n, .data = m->b + first, .validity = has_nulls ? r->bits : NULL};
    return r->columns;
}

static uint64_t count_of(kr_table *table, const char *where, kr_stream *stream)
{
    uint64_t count = UINT64_MAX;
    kr_condition *condition = NULL;
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count};
    const kr_scan_sink *sinks[] = {&sink};
    WORKS(kr_condition_parse(where, &condition, &err));
    const kr_condition *conditions[] = {condition};
    WORKS(kr_scan(table, conditions, sinks, 1, NULL, stream, &err));
    kr_condition_destroy(condition);
    return count;
}

static void expect(kr_table *table, const model *m, const char *spec)
{
    const int before = failures;
    kr_table_info info = {.struct_size = sizeof info};
    uint64_t alive = 0, low = 0, both = 0, nulls = 0;
    for (uint32_t i = 0; i < m->n; ++i) {
        alive += m->is_alive[i];
        low += m->is_alive[i] && m->a[i] < 20;
        both += m->is_alive[i] && m->a[i] >= 40 && !m->is_null[i] && m->b[i] < 0;
        nulls += m->is_alive[i] && m->is_null[i];
    }
    WORKS(kr_table_query(table, &info, &err));
    CHECK(info.rows == m->n && info.alive_rows == alive);
    CHECK(count_of(table, "", NULL) == alive);
    CHECK(count_of(table, "a < 20", NULL) == low);
    CHECK(count_of(table, "a >= 40 and b < 0", NULL) == both);
    CHECK(count_of(table, "b is null", NULL) == nulls);
    WORKS(kr_table_validate(table, &err));
    if (failures > before)
        printf("with %s\n", spec);
}

static kr_table *create(const char *spec, kr_copy copy, model *m, kr_rng *random, rows *r)
{
    kr_table *table = NULL;
    kr_error why = {0};
    const kr_table_options options = {.struct_size = sizeof options, .copy = copy};
    m->n = 0;
    while (m->n < FIRST)
        model_add(m, random);
    rows_from(m, 0, 1, r);
    if (kr_table_create(device, spec, r->columns, names, COLUMNS, &options, NULL, &table, &why) != KR_OK)
        printf("%s is left out: %s\n", spec, why.text);
    return table;
}

/* ---- One change, of a version or in place ---------------------------------------------------------- */

static kr_table *append(kr_table *table, int in_place, model *m, kr_rng *random)
{
    static rows r;
    const uint32_t first = m->n, n = (uint32_t)kr_rng_below(random, 90) + 1;
    kr_table *next = NULL;
    for (uint32_t i = 0; i < n; ++i)
        model_add(m, random);
    rows_from(m, first, 1, &r);
    if (in_place)
        WORKS(kr_table_append(table, r.columns, COLUMNS, NULL, &err));
    else
        WORKS(kr_table_next_append(table, r.columns, COLUMNS, NULL, &next, &err));
    return in_place ? table : next;
}

static kr_table *delete_rows(kr_table *table, int in_place, model *m, kr_rng *random)
{
    uint32_t ids[40];
    uint64_t n_deleted = 0, want = 0;
    kr_table *next = NULL;
    for (int i = 0; i < 40; ++i) {
        ids[i] = (uint32_t)kr_rng_below(random, m->n);
        want += m->is_alive[ids[i]];
        m->is_alive[ids[i]] = 0;
    }
    if (in_place)
        WORKS(kr_table_delete(table, ids, 40, NULL, &n_deleted, &err));
    else
        WORKS(kr_table_next_delete(table, ids, 40, NULL, &n_deleted, &next, &err));
    CHECK(n_deleted == want);
    return in_place ? table : next;
}

static kr_table *delete_where(kr_table *table, int in_place, model *m, kr_rng *random)
{
    const uint32_t value = (uint32_t)kr_rng_below(random, VALUES);
    char text[32];
    uint64_t n_deleted = 0, want = 0;
    kr_condition *condition = NULL;
    kr_table *next = NULL;
    for (uint32_t i = 0; i < m->n; ++i)
        if (m->a[i] == value) {
            want += m->is_alive[i];
            m->is_alive[i] = 0;
        }
    snprintf(text, sizeof text, "a = %u", value);
    WORKS(kr_condition_parse(text, &condition, &err));
    if (in_place)
        WORKS(kr_table_delete_where(table, condition, NULL, &n_deleted, &err));
    else
        WORKS(kr_table_next_delete_where(table, condition, NULL, &n_deleted, &next, &err));
    kr_condition_destroy(condition);
    CHECK(n_deleted == want);
    return in_place ? table : next;
}

static kr_table *change(kr_table *table, int in_place, model *m, kr_rng *random)
{
    switch (kr_rng_below(random, 4)) {
    case 0: return delete_rows(table, in_place, m, random);
    case 1: return delete_where(table, in_place, m, random);
    default: return append(table, in_place, m, random);
    }
}

/* ---- Many versions --------------------------------------------------------------------------------- */

/* Each version is made of any older one, and any may change in place; then all are destroyed in any order. */
static void check_tree(const char *spec, kr_copy copy, uint64_t seed)
{
    kr_rng random = {seed};
    static model models[STEPS];
    static rows first;
    kr_table *tables[STEPS] = {NULL};
    const uint64_t before = in_use(device);
    tables[0] = create(spec, copy, &models[0], &random, &first);
    if (!tables[0])
        return;
    for (int i = 1; i < STEPS; ++i) {
        const uint64_t from = kr_rng_below(&random, (uint64_t)i);
        models[i] = models[from];
        tables[i] = change(tables[from], 0, &models[i], &random);
        if (!tables[i])
            return;
        if (kr_rng_below(&random, 2)) {
            const uint64_t other = kr_rng_below(&random, (uint64_t)i + 1);
            change(tables[other], 1, &models[other], &random);
        }
    }
    for (int i = 0; i < STEPS; ++i)
        expect(tables[i], &models[i], spec);
    for (int left = STEPS; left > 0; --left) {
        const uint64_t gone = kr_rng_below(&random, (uint64_t)left);
        kr_table_destroy(tables[gone]);
        tables[gone] = tables[left - 1];
        models[gone] = models[left - 1];
        for (int i = 0; i + 1 < left; ++i)
            expect(tables[i], &models[i], spec);
    }
    CHECK(in_use(device) == before);
}

/* A thousand versions, each made of the one before, hold the memory of one. */
static void check_thousand(const char *spec)
{
    kr_rng random = {77};
    static model m;
    static rows first, one;
    const uint64_t before = in_use(device);
    kr_table *table = create(spec, KR_COPY_ALWAYS, &m, &random, &first);
    if (!table)
        return;
    for (int i = 0; i < 1000 && table; ++i) {
        const uint32_t id = (uint32_t)kr_rng_below(&random, m.n);
        kr_table *next = NULL;
        if (i % 2) {
            model_add(&m, &random);
            rows_from(&m, m.n - 1, 1, &one);
            WORKS(kr_table_next_append(table, one.columns, COLUMNS, NULL, &next, &err));
        } else {
            m.is_alive[id] = 0;
            WORKS(kr_table_next_delete(table, &id, 1, NULL, NULL, &next, &err));
        }
        kr_table_destroy(table);
        table = next;
    }
    kr_table_info info = {.struct_size = sizeof info};
    if (table)
        WORKS(kr_table_query(table, &info, &err));
    CHECK(in_use(device) - before <= info.footprint_nbytes);
    if (table)
        expect(table, &m, spec);
    kr_table_destroy(table);
    CHECK(in_use(device) == before);
}

/* A deletion shares all columns, an append that finds room the values. */
static void check_shared(void)
{
    kr_rng random = {5};
    static model m, later;
    static rows first;
    kr_table *table = create("full", KR_COPY_ALWAYS, &m, &random, &first);
    append(table, 1, &m, &random); /* from now on there is room */
    const uint64_t held = in_use(device);
    later = m;
    kr_table *deleted = delete_rows(table, 0, &later, &random);
    CHECK(in_use(device) - held <= 1024);
    later = m;
    kr_table *longer = append(table, 0, &later, &random);
    CHECK(in_use(device) - held <= 2048);
    expect(longer, &later, "full");
    kr_table_destroy(table);
    expect(longer, &later, "full");
    kr_table_destroy(longer);
    kr_table_destroy(deleted);
}

static void check_mapped(const char *spec)
{
    static const char path[] = "table_versions_test.krx";
    kr_rng random = {15};
    static model older, later[2];
    static rows first;
    kr_saved *saved = NULL;
    kr_table *made = create(spec, KR_COPY_AUTO, &older, &random, &first), *table = NULL;
    if (!made)
        return;
    delete_rows(made, 1, &older, &random);
    WORKS(kr_table_save(made, path, NULL, NULL, &err));
    kr_table_destroy(made);
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_table_load(device, saved, NULL, NULL, &table, &err));
    kr_saved_close(saved);
    if (!table)
        return;
    later[0] = later[1] = older;
    kr_table *deleted = delete_rows(table, 0, &later[0], &random);
    kr_table *longer = append(table, 0, &later[1], &random);
    expect(table, &older, spec);
    append(table, 1, &older, &random);
    expect(table, &older, spec);
    kr_table_destroy(table);
    expect(deleted, &later[0], spec);
    expect(longer, &later[1], spec);
    kr_table_destroy(longer);
    kr_table_destroy(deleted);
    remove(path);
}

static void check_wrong(void)
{
    kr_rng random = {2};
    static model m;
    static rows first, more;
    const uint32_t row = 3, none = ROWS_MOST;
    uint64_t n = 7;
    kr_table *table = create("full", KR_COPY_AUTO, &m, &random, &first), *next = NULL;
    rows_from(&m, FIRST - 10, 1, &more);
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_append(NULL, more.columns, COLUMNS, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_append(table, NULL, COLUMNS, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_append(table, more.columns, 1, NULL, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_append(table, more.columns, COLUMNS, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_delete(NULL, &row, 1, NULL, &n, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_delete(table, NULL, 1, NULL, &n, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_delete(table, &none, 1, NULL, &n, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_delete(table, &row, 1, NULL, &n, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_delete_where(NULL, NULL, NULL, &n, &next, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_next_delete_where(table, NULL, NULL, &n, NULL, &err));
    CHECK(!next && n == 7);
    WORKS(kr_table_next_delete(table, NULL, 0, NULL, &n, &next, &err));
    CHECK(n == 0);
    expect(next, &m, "full");
    kr_table_destroy(next);
    expect(table, &m, "full");
    kr_table_destroy(table);
}

/* ---- Texts ------------------------------------------------------------------------------------------- */

static kr_column texts_of(const int32_t *offsets, uint64_t n, const char *bytes)
{
    return (kr_column){
        .type = KR_STRING, .count = n, .data = offsets, .reserved_words = {(uintptr_t)bytes, strlen(bytes)}};
}

/* New texts make a dictionary and codes of the version's own. */
static void check_texts(const char *spec)
{
    static const int32_t three[] = {0, 2, 4, 6}, two[] = {0, 2, 4};
    const uint64_t before = in_use(device);
    const kr_column columns[] = {texts_of(three, 3, "bbccbb")}, more[] = {texts_of(two, 2, "aabb")};
    kr_table *table = NULL, *longer = NULL, *same = NULL;
    kr_error why = {0};
    if (kr_table_create(device, spec, columns, names, 1, NULL, NULL, &table, &why) != KR_OK) {
        printf("texts with %s are left out: %s\n", spec, why.text);
        return;
    }
    WORKS(kr_table_next_append(table, more, 1, NULL, &longer, &err));
    WORKS(kr_table_next_append(table, columns, 1, NULL, &same, &err));
    CHECK(count_of(table, "a = 'bb'", NULL) == 2 && count_of(table, "a = 'aa'", NULL) == 0);
    CHECK(count_of(longer, "a = 'bb'", NULL) == 3 && count_of(longer, "a = 'aa'", NULL) == 1);
    kr_table_destroy(table);
    CHECK(count_of(same, "a = 'bb'", NULL) == 4 && count_of(same, "a = 'cc'", NULL) == 2);
    kr_table_destroy(same);
    CHECK(count_of(longer, "a < 'bb'", NULL) == 1 && count_of(longer, "a = 'cc'", NULL) == 1);
    kr_table_destroy(longer);
    CHECK(in_use(device) == before);
}

/* ---- Threads ------------------------------------------------------------------------------------------ */

/* Version v has FIRST + v rows, of which one was deleted for each version whose number is a multiple of 4;
 * all values of a are below VALUES, and rows FIRST and on have VALUES. */
typedef struct version {
    kr_table *table;
    uint64_t appended, alive;
    uint32_t holders; /* under the lock */
} version;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static version *newest;
static _Atomic int is_over, n_wrong, n_waiting;

static version *hold(void)
{
    pthread_mutex_lock(&lock);
    version *held = newest;
    ++held->holders;
    pthread_mutex_unlock(&lock);
    return held;
}

static void let_go(version *held)
{
    pthread_mutex_lock(&lock);
    const int is_last = --held->holders == 0;
    pthread_mutex_unlock(&lock);
    if (!is_last)
        return;
    kr_table_destroy(held->table);
    free(held);
}

static void publish(kr_table *table, uint64_t appended, uint64_t alive)
{
    version *made = calloc(1, sizeof *made), *before = newest;
    if (!made)
        abort();
    *made = (version){table, appended, alive, 1};
    pthread_mutex_lock(&lock);
    newest = made;
    pthread_mutex_unlock(&lock);
    if (before)
        let_go(before);
}

static void *scan_versions(void *unused)
{
    kr_stream *stream = NULL;
    int is_first = 1;
    WORKS(kr_stream_create(device, &stream, &err));
    while (!atomic_load(&is_over)) {
        version *held = hold();
        for (int i = 0; i < 4; ++i)
            if (count_of(held->table, "a = 100", stream) != held->appended ||
                count_of(held->table, "", stream) != held->alive)
                atomic_fetch_add(&n_wrong, 1);
        let_go(held);
        if (is_first)
            atomic_fetch_sub(&n_waiting, 1);
        is_first = 0;
    }
    kr_stream_destroy(stream);
    return unused;
}

static void write_versions(void)
{
    const uint32_t a = VALUES;
    const int16_t b = 0;
    const uint8_t valid = 1;
    const kr_column one[COLUMNS] = {{.type = KR_U32, .count = 1, .data = &a},
                                    {.type = KR_I16, .count = 1, .data = &b, .validity = &valid}};
    for (uint32_t v = 0; v < 60 || atomic_load(&n_waiting); ++v) {
        kr_table *next = NULL;
        const uint64_t appended = newest->appended, alive = newest->alive;
        if (v % 4 == 3)
            WORKS(kr_table_next_delete(newest->table, (const uint32_t[]){v / 4 % FIRST}, 1, NULL, NULL, &next,
                                       &err));
        else
            WORKS(kr_table_next_append(newest->table, one, COLUMNS, NULL, &next, &err));
        if (!next)
            break;
        kr_table_info info = {.struct_size = sizeof info};
        WORKS(kr_table_query(next, &info, &err));
        CHECK(info.alive_rows == alive + (v % 4 != 3) - (v % 4 == 3 && v / 4 < FIRST));
        publish(next, appended + (v % 4 != 3), info.alive_rows);
    }
}

static void check_threads(const char *spec)
{
    kr_rng random = {31};
    static model m;
    static rows first;
    pthread_t threads[THREADS];
    kr_table *table = create(spec, KR_COPY_ALWAYS, &m, &random, &first);
    if (!table)
        return;
    newest = NULL;
    publish(table, 0, FIRST);
    atomic_store(&is_over, 0);
    atomic_store(&n_waiting, THREADS);
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&threads[i], NULL, scan_versions, NULL))
            abort();
    write_versions();
    atomic_store(&is_over, 1);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    let_go(newest);
    CHECK(atomic_load(&n_wrong) == 0);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {
        "full", "full:narrow=on,zones=off", "bindex", "bindex:refine=scatter", "rtscan", "rtc3:rays=20"};
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = UINT64_MAX};
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, &options, &device, &err));
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        for (uint64_t seed = 1; seed <= (i < 3 ? 20 : 2); ++seed)
            check_tree(specs[i], seed % 2 ? KR_COPY_ALWAYS : KR_COPY_AUTO, seed);
        if (i < 3)
            check_thousand(specs[i]);
        check_mapped(specs[i]);
        check_threads(specs[i]);
    }
    check_shared();
    check_texts("full");
    check_texts("bindex");
    check_wrong();
    kr_device_close(device);
    return failures != 0;
}
