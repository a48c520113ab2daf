/* Long sequences of kr_index_update: nodes split and merge level by level, tables grow and shrink, keys with
 * very many rows are inserted and deleted. In the end memory is what an index of these rows needs. */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3000, ROWS = 20000, HEAVY_ROWS = 50000, MOST = 1 << 18 };

/* The codes of a batch. */
typedef struct codes {
    uint64_t at[MOST], n;
} codes;

typedef struct draft {
    kr_model *model;
    codes inserts, deletes;
    int has_ids;
} draft;

static void put(codes *to, uint64_t code)
{
    if (to->n == MOST) {
        fprintf(stderr, "a batch of the test is too long\n");
        exit(1);
    }
    to->at[to->n++] = code;
}

static uint64_t most_code(const draft *d)
{
    return ~UINT64_C(0) >> (64 - 8 * kr_type_nbytes(d->model->scene.type));
}

static uint64_t random_code(const draft *d)
{
    return kr_test_near_code(d->model->scene.type, kr_rng_next(&d->model->rng) & most_code(d));
}

static uint64_t random_row(const draft *d)
{
    return kr_rng_below(&d->model->rng, d->model->n);
}

/* ---- Batches of distinct keys ---------------------------------------------------------------- */

static void insert_anywhere(draft *d)
{
    for (uint64_t i = 0; i < BATCH; ++i)
        put(&d->inserts, random_code(d));
}

/* One stretch of neighbours behind a key. */
static void insert_in_one_place(draft *d)
{
    const uint64_t first = d->model->n ? d->model->rows[random_row(d)].code : 0;
    for (uint64_t i = 0; i < BATCH; ++i)
        put(&d->inserts, (first + 1 + i) & most_code(d));
}

static void delete_anywhere(draft *d)
{
    for (uint64_t i = 0; i < BATCH && d->model->n; ++i)
        put(&d->deletes, d->model->rows[random_row(d)].code);
}

static void exchange(draft *d)
{
    delete_anywhere(d);
    insert_anywhere(d);
}

static void delete_in_one_place(draft *d)
{
    const uint64_t n = d->model->n, first = n > BATCH ? kr_rng_below(&d->model->rng, n - BATCH) : 0;
    for (uint64_t i = first; i < n && i < first + BATCH; ++i)
        put(&d->deletes, d->model->rows[i].code);
}

static void delete_every_second(draft *d)
{
    for (uint64_t i = 0; i < d->model->n; i += 2)
        put(&d->deletes, d->model->rows[i].code);
}

static void delete_nine_of_ten(draft *d)
{
    for (uint64_t i = 0; i < d->model->n; ++i)
        if (i % 10)
            put(&d->deletes, d->model->rows[i].code);
}

static void insert_many(draft *d)
{
    for (uint64_t i = 0; i < ROWS; ++i)
        put(&d->inserts, random_code(d));
}

static void delete_all(draft *d)
{
    for (uint64_t i = 0; i < d->model->n; ++i)
        put(&d->deletes, d->model->rows[i].code);
}

/* ---- Batches of equal keys ------------------------------------------------------------------- */

/* A key amid the others, the same in every batch. */
static uint64_t heavy_code(const draft *d)
{
    return kr_test_near_code(d->model->scene.type, most_code(d) / 3);
}

static void insert_heavy(draft *d)
{
    for (uint64_t i = 0; i < HEAVY_ROWS; ++i)
        put(&d->inserts, heavy_code(d));
}

/* More of its rows, whose ids lie between those that are there; and its neighbours. */
static void insert_among_heavy(draft *d)
{
    for (uint64_t i = 0; i < BATCH; ++i) {
        put(&d->inserts, heavy_code(d));
        put(&d->inserts, heavy_code(d) + (i % 2 ? 1 : -1));
    }
    d->has_ids = 1;
}

static void insert_ends(draft *d)
{
    for (uint64_t i = 0; i < BATCH; ++i)
        put(&d->inserts, kr_test_near_code(d->model->scene.type, i % 2 ? most_code(d) : 0));
}

static void delete_neighbours(draft *d)
{
    put(&d->deletes, heavy_code(d) - 1);
    put(&d->deletes, heavy_code(d) + 1);
    put(&d->deletes, 0);
}

static void replace_heavy(draft *d)
{
    put(&d->deletes, heavy_code(d));
    put(&d->inserts, heavy_code(d));
    put(&d->inserts, 0);
}

static void delete_heavy(draft *d)
{
    put(&d->deletes, heavy_code(d));
    put(&d->deletes, kr_test_near_code(d->model->scene.type, most_code(d)));
}

/* ---- Sequences ------------------------------------------------------------------------------- */

typedef struct step {
    const char *name;
    void (*make)(draft *d);
    uint32_t times;
} step;

static const step distinct[] = {
    {"keys inserted anywhere", insert_anywhere, 3},
    {"keys inserted in one place", insert_in_one_place, 2},
    {"keys deleted and inserted", exchange, 4},
    {"neighbours deleted", delete_in_one_place, 2},
    {"keys inserted where others were", insert_in_one_place, 1},
    {"every second key deleted", delete_every_second, 1},
    {"many keys inserted", insert_many, 1},
    {"nine of ten keys deleted", delete_nine_of_ten, 1},
    {"keys inserted into the rest", insert_anywhere, 1},
    {"all keys deleted", delete_all, 1},
    {"many keys inserted into nothing", insert_many, 1},
    {NULL, NULL, 0},
};

static const step equal[] = {
    {"a key with very many rows inserted", insert_heavy, 1},
    {"more of its rows inserted", insert_among_heavy, 2},
    {"the lowest and the highest key inserted", insert_ends, 1},
    {"its rows doubled", insert_heavy, 1},
    {"its neighbours deleted", delete_neighbours, 1},
    {"all but one of its rows deleted", replace_heavy, 1},
    {"its rows inserted again", insert_heavy, 1},
    {"the key deleted", delete_heavy, 1},
    {"all keys deleted", delete_all, 1},
    {NULL, NULL, 0},
};

static int try_step(kr_subject *s, draft *d, const step *now)
{
    kr_update_batch b;
    d->model = &s->model;
    d->inserts.n = d->deletes.n = 0;
    d->has_ids = 0;
    now->make(d);
    kr_batch_of(&s->model, d->inserts.at, d->inserts.n, d->deletes.at, d->deletes.n, d->has_ids, &b);
    const int good = kr_subject_try(s, &b, now->name, NULL);
    kr_batch_free(&b);
    return good;
}

static void run_steps(kr_subject *s, const kr_suite_device *on, const step *steps)
{
    draft *d = kr_test_calloc(1, sizeof *d);
    kr_error err = {0};
    int good = kr_subject_begin(s, on, &err);
    if (!good)
        kr_test_fail(s->suite, "kr_index_create: %s", err.text);
    for (; steps->name && good; ++steps)
        for (uint32_t i = 0; i < steps->times && good; ++i)
            good = try_step(s, d, steps);
    kr_subject_end(s);
    free(d);
    kr_test_expect(s->suite, kr_in_use(on->device) == s->before, "a changed index releases all it took");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Key i of a sequence without end; odd factors make distinct keys of distinct numbers, of those below 2^20
 * also where keys lie near each other. */
static kr_test_column keys_from(kr_type type, uint64_t first, uint64_t n)
{
    const uint64_t mask = kr_test_keys_lie_now() == KR_KEYS_ANYWHERE ? UINT64_MAX : (1 << 19) - 1;
    kr_test_column keys = kr_test_column_make(type, n, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    for (uint64_t i = 0; i < n; ++i)
        kr_value_store_bits(type, keys.data, i, (first + i) * UINT64_C(0x9E3779B97F4A7C15) & mask);
    return keys;
}

static uint64_t footprint_of(const kr_index *index)
{
    kr_index_info info = {.struct_size = sizeof info};
    return kr_index_query(index, &info, NULL) == KR_OK ? info.footprint_nbytes : UINT64_MAX;
}

/* Keys first to first + n - 1 are there, in the rows of their numbers; the `gone` ones before are not. */
static void expect_window(kr_suite *suite, kr_index *index, kr_type type, uint64_t first, uint64_t n,
                          uint64_t gone)
{
    kr_test_column probes = keys_from(type, first - gone, n + gone);
    uint32_t *rows = kr_test_calloc(n + gone, sizeof *rows);
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_error err = {0};
    uint64_t wrong = 0;
    kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
    if (kr_test_ok(suite, kr_index_lookup(index, &probes.view, &sink, NULL, &err), &err, "kr_index_lookup"))
        for (uint64_t i = 0; i < n + gone; ++i)
            wrong += rows[i] != (i < gone ? KR_NO_ROW : (uint32_t)(first - gone + i));
    if (wrong)
        kr_test_fail(suite, "%llu of %llu keys from %llu on are wrong", (unsigned long long)wrong,
                     (unsigned long long)(n + gone), (unsigned long long)first);
    free(rows);
    kr_test_column_free(&probes);
}

/* At most 1.1 times what an index needs that is built of the same keys. The nodes of cgrx keep their memory.
 */
static void expect_footprint(kr_suite *suite, const kr_suite_device *on, const char *spec,
                             const kr_index *index, const kr_column *keys)
{
    kr_index *fresh = NULL;
    kr_error err = {0};
    if (kr_casts_rays(on, spec) ||
        !kr_test_ok(suite, kr_index_create(on->device, spec, keys, NULL, NULL, &fresh, &err), &err,
                    "kr_index_create"))
        return;
    const uint64_t now = footprint_of(index), want = footprint_of(fresh);
    if (now > want + want / 10)
        kr_test_fail(suite, "after updates %llu rows take %llu bytes, built anew %llu",
                     (unsigned long long)keys->count, (unsigned long long)now, (unsigned long long)want);
    kr_index_destroy(fresh);
}

/* Replaces all keys in waves, then deletes nine of ten at once. */
static void run_waves(kr_suite *suite, const kr_suite_device *on, const char *spec, kr_type type)
{
    const uint64_t n = 1 << 18, waves = 16, each = n / waves;
    kr_test_column keys = keys_from(type, 0, n);
    kr_index *index = NULL;
    kr_error err = {0};
    kr_test_ok(suite, kr_index_create(on->device, spec, &keys.view, NULL, NULL, &index, &err), &err,
               "kr_index_create");
    for (uint64_t i = 0; i < waves && !suite->has_failed; ++i) {
        kr_test_column old = keys_from(type, i * each, each), new = keys_from(type, n + i * each, each);
        kr_test_ok(suite, kr_index_update(index, &new.view, NULL, &old.view, NULL, &err), &err, "a wave");
        kr_test_column_free(&new);
        kr_test_column_free(&old);
        if (i % 5 == 0 && !suite->has_failed)
            expect_window(suite, index, type, (i + 1) * each, n, each);
    }
    kr_test_column_free(&keys);
    keys = keys_from(type, n, n);
    kr_column most_of_them = keys.view, rest = keys.view;
    most_of_them.count = n / 10 * 9;
    rest.count = n - most_of_them.count;
    rest.data = kr_value_at(&keys.view, most_of_them.count);
    if (!suite->has_failed) {
        expect_window(suite, index, type, n, n, n);
        expect_footprint(suite, on, spec, index, &keys.view);
    }
    if (!suite->has_failed &&
        kr_test_ok(suite, kr_index_update(index, NULL, NULL, &most_of_them, NULL, &err), &err, "deletes")) {
        expect_window(suite, index, type, n + most_of_them.count, rest.count, n);
        expect_footprint(suite, on, spec, index, &rest);
    }
    kr_index_destroy(index);
    kr_test_column_free(&keys);
}

/* ---- Which specs ----------------------------------------------------------------------------- */

static void test_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const int is_first = suite->listed->is_first_to_update;
    kr_subject s = {.suite = suite, .on = on, .probes = 12, .model = {.spec = spec, .rng = {suite->seed}}};
    s.model.scene = (kr_scene_of_rows){
        kr_fitting_type(spec, KR_U32), KR_PATTERN_RANDOM, ROWS, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 1};
    run_steps(&s, on, distinct);
    s.model.scene = (kr_scene_of_rows){
        kr_fitting_type(spec, KR_U64), KR_PATTERN_RANDOM, BATCH, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 1};
    if (!suite->has_failed && is_first)
        run_steps(&s, on, equal);
    for (uint32_t wide = 0; wide < 2 && is_first && !kr_casts_rays(on, spec) && !suite->has_failed; ++wide)
        if (kr_fitting_type(spec, KR_U64) == KR_U64)
            run_waves(suite, on, spec, wide ? KR_U64 : KR_U32);
}

/* GROWTH/DEVICE/SPEC, once for what is the same in memory. The reduced list goes without: what is counted
 * here no slow tool counts better, and other tests make the same updates. */
void kr_run_growth(kr_suite *suite)
{
    if (suite->listed->is_first_stored && kr_spec_can_update(suite->spec) && !suite->reduced)
        kr_test_special(suite, "growth", 0, test_spec);
}
