/* kr_index_set_keys: after every change the index answers as the changed column does, after every refusal as
 * before. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    kr_type type;
    kr_pattern pattern;
    uint64_t keys;
    kr_nulls nulls;
    kr_row_ids row_ids;
    int reduced;
} scene;

static const scene scenes[] = {
    {KR_U32, KR_PATTERN_DUPLICATES, 200, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 1},
    {KR_U64, KR_PATTERN_ROWS, 150, KR_NULLS_SOME, KR_ROW_IDS_SPARSE, 1},
    {KR_I64, KR_PATTERN_RANDOM, 33, KR_NULLS_SLICED, KR_ROW_IDS_HIGH, 0},
    {KR_U8, KR_PATTERN_RANDOM, 60, KR_NULLS_SLICED, KR_ROW_IDS_SHUFFLED, 1},
    {KR_F32, KR_PATTERN_EXTREME, 64, KR_NULLS_NONE, KR_ROW_IDS_ASCENDING, 0},
    {KR_U32, KR_PATTERN_BITS_23, 100, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_U64, KR_PATTERN_BITS_29, 100, KR_NULLS_NONE, KR_ROW_IDS_SHUFFLED, 0},
    {KR_U16, KR_PATTERN_EQUAL, 20, KR_NULLS_SOME, KR_ROW_IDS_POSITIONS, 0},
    {KR_U32, KR_PATTERN_DENSE, 5000, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 0},
    {KR_U32, KR_PATTERN_DENSE, 1, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 0},
    {KR_U32, KR_PATTERN_DENSE, 0, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_U32, KR_PATTERN_DENSE, 50, KR_NULLS_ALL, KR_ROW_IDS_POSITIONS, 0},
};

/* What a change does; the last ones are refused. */
typedef enum task {
    NO_ROW,
    ONE_ROW,
    SOME_ROWS,
    ALL_ROWS,
    SAME_KEYS,
    SWAPPED,
    ONE_KEY,
    N_TASKS,
    UNKNOWN_ROW = N_TASKS,
    LAST_ROW_ID,
    NULL_ROW,
    ROW_TWICE,
    NULL_KEY,
    OTHER_TYPE,
    LARGE_KEY,
    N_ALL_TASKS
} task;
static const char *const task_names[] = {
    "no row",       "one row",    "some rows", "all rows",   "the keys they have", "two rows exchanged",
    "all the same", "unknown id", "KR_NO_ROW", "a NULL row", "a row twice",        "a NULL key",
    "another type", "a large key"};

/* The index and the column that it should answer for. */
typedef struct subject {
    kr_suite *suite;
    const kr_suite_device *on;
    const char *spec;
    const scene *scene;
    kr_fixture model;
    kr_index *index;
    kr_rng rng;
    uint64_t before; /* bytes in use without the index */
} subject;

/* Rows that get other keys. */
typedef struct change {
    uint64_t n;
    uint32_t *at; /* positions in the model's column */
    uint32_t *rows;
    kr_test_column keys;
} change;

static uint32_t row_id(const subject *s, uint64_t at)
{
    return s->model.data.row_ids ? s->model.data.row_ids[at] : (uint32_t)at;
}

/* Positions whose rows are NULL or not, in random order. */
static uint64_t choose(subject *s, int valid, uint32_t *at)
{
    const kr_column *keys = &s->model.data.keys.view;
    uint64_t n = 0;
    for (uint64_t i = 0; i < keys->count; ++i)
        if ((kr_value_is_valid(keys, i) != 0) == valid) {
            const uint64_t place = kr_rng_below(&s->rng, ++n);
            at[n - 1] = at[place];
            at[place] = (uint32_t)i;
        }
    return n;
}

static uint64_t how_many(subject *s, task what, uint64_t n_valid)
{
    const uint64_t most = what == NO_ROW                        ? 0
                          : what == ALL_ROWS                    ? n_valid
                          : what == ONE_ROW                     ? 1
                          : what == SWAPPED || what > SAME_KEYS ? 2
                                                                : 1 + kr_rng_below(&s->rng, n_valid);
    const uint64_t wanted = what == ONE_KEY ? 1 + n_valid / 2 : most;
    return wanted < n_valid ? wanted : n_valid;
}

/* Keys for the chosen rows, of the scene's own pattern unless the task defines them. */
static void make_keys(subject *s, task what, change *c)
{
    const kr_column *old = &s->model.data.keys.view;
    const kr_type type = s->scene->type;
    c->keys = kr_test_column_make(type, c->n, s->scene->pattern, KR_NULLS_NONE, kr_rng_next(&s->rng));
    for (uint64_t i = 0; i < c->n; ++i) {
        const uint64_t from = what == SWAPPED ? c->at[c->n - 1 - i] : c->at[i];
        if (what == SAME_KEYS || what == SWAPPED)
            kr_value_store_bits(type, c->keys.data, i, kr_value_bits(type, kr_value_at(old, from)));
        else if (what == ONE_KEY)
            kr_value_store_bits(type, c->keys.data, i, kr_value_bits(type, c->keys.data));
    }
}

static void make_change(subject *s, task what, change *c)
{
    const uint64_t count = s->model.data.keys.view.count;
    *c = (change){0};
    c->at = kr_test_calloc(count + 1, sizeof *c->at);
    c->rows = kr_test_calloc(count + 1, sizeof *c->rows);
    c->n = how_many(s, what, choose(s, 1, c->at));
    make_keys(s, what, c);
    for (uint64_t i = 0; i < c->n; ++i)
        c->rows[i] = row_id(s, c->at[i]);
}

static void free_change(change *c)
{
    free(c->at);
    free(c->rows);
    kr_test_column_free(&c->keys);
}

/* Columns lie in host or device memory, by chance. */
static kr_status set_keys(subject *s, const uint32_t *rows, const kr_column *keys, kr_stream *stream,
                          kr_error *err)
{
    const kr_column ids = {.type = KR_U32, .count = keys->count, .data = rows};
    const uint64_t places = kr_rng_next(&s->rng);
    kr_placed placed[2] = {0};
    kr_status status =
        kr_placed_make(s->on->device, places & 1 ? KR_PLACE_HOST : KR_PLACE_DEVICE, &ids, 1, &placed[0], err);
    if (!status)
        status = kr_placed_make(s->on->device, places & 2 ? KR_PLACE_HOST : KR_PLACE_DEVICE, keys, 1,
                                &placed[1], err);
    if (!status)
        status = kr_device_sync(s->on->device, NULL, err);
    if (status) {
        fprintf(stderr, "the test itself ran out of memory: %s\n", err->text);
        exit(1);
    }
    const uint64_t in_use = kr_in_use(s->on->device);
    status = kr_index_set_keys(s->index, placed[0].view.data, &placed[1].view, stream, err);
    if (status && kr_in_use(s->on->device) != in_use)
        kr_test_fail(s->suite, "a refused change keeps %lld bytes",
                     (long long)(kr_in_use(s->on->device) - in_use));
    kr_placed_free(&placed[0]);
    kr_placed_free(&placed[1]);
    return status;
}

/* The model's column with the change, and what it answers. */
static void apply(subject *s, const change *c)
{
    kr_case_data *data = &s->model.data;
    kr_test_column keys = data->keys;
    uint32_t *row_ids = data->row_ids;
    for (uint64_t i = 0; i < c->n; ++i)
        kr_value_store_bits(data->type, keys.data, c->at[i],
                            kr_value_bits(data->type, kr_value_at(&c->keys.view, i)));
    data->keys = (kr_test_column){0};
    data->row_ids = NULL;
    kr_case_data_free(data);
    kr_case_data_of(s->suite, &s->model.test, (uint32_t)kr_rng_below(&s->rng, 1000), &keys, row_ids, data);
}

static void check_stats(subject *s)
{
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    uint64_t valid = 0;
    const uint64_t sum = kr_component_sum(s->index);
    if (!kr_test_ok(s->suite, kr_index_query(s->index, &info, &err), &err, "kr_index_query"))
        return;
    for (uint64_t i = 0; i < s->model.data.keys.view.count; ++i)
        valid += kr_value_is_valid(&s->model.data.keys.view, i) != 0;
    kr_test_expect(s->suite, info.rows == valid, "a change of keys leaves the number of rows");
    kr_test_expect(s->suite, sum == info.footprint_nbytes,
                   "the components sum to the footprint after a change");
    kr_test_expect(s->suite, info.peak_nbytes >= info.footprint_nbytes, "the peak includes the footprint");
    if (kr_in_use(s->on->device) - s->before != info.footprint_nbytes)
        kr_test_fail(s->suite, "after a change the device holds %llu bytes more, the footprint is %llu",
                     (unsigned long long)(kr_in_use(s->on->device) - s->before),
                     (unsigned long long)info.footprint_nbytes);
}

/* The index is valid and answers as the model; 0 when not. */
static int check_index(subject *s, kr_status allowed)
{
    kr_error err = {0};
    uint32_t refusals = 0;
    const kr_status status = kr_index_validate(s->index, &err);
    if (status != KR_OK && status != allowed)
        return kr_test_ok(s->suite, status, &err, "kr_index_validate");
    return kr_fixture_check(&s->model, s->spec, s->index, allowed, &refusals);
}

/* One change that is legal, unless its keys are not the mode's. */
static int try_change(subject *s, task what, kr_stream *stream)
{
    change c;
    kr_error err = {0};
    const char *must_name;
    make_change(s, what, &c);
    const kr_status want = kr_spec_refuses(s->spec, &c.keys.view, &must_name);
    const kr_status status = set_keys(s, c.rows, &c.keys.view, stream, &err);
    int good = want ? kr_test_refused(s->suite, want, status, &err, task_names[what])
                    : kr_test_ok(s->suite, status, &err, task_names[what]);
    if (good && !want)
        apply(s, &c);
    good = good && check_index(s, KR_OK);
    if (good)
        check_stats(s);
    else
        printf("  after setting keys of %llu rows: %s\n", (unsigned long long)c.n, task_names[what]);
    free_change(&c);
    return good;
}

/* Makes a legal change wrong; 0 if that is not possible in this way for this column. */
static int spoil(subject *s, task what, change *c, kr_column *keys, kr_status *want)
{
    static const uint8_t first_is_null[] = {0xFE};
    uint32_t *at = kr_test_calloc(s->model.data.keys.view.count + 1, sizeof *at);
    const uint64_t n_null = choose(s, 0, at);
    const char *must_name;
    int can = c->n > 0;
    *want = KR_ERR_ARGUMENT;
    if (!can) {
        free(at);
        return 0;
    }
    switch (what) {
    case UNKNOWN_ROW: /* positions end before it; row ids of other sorts have gaps or are shuffled positions
                       */
        c->rows[c->n - 1] = s->scene->row_ids == KR_ROW_IDS_HIGH ? 7 : 3 * (uint32_t)s->scene->keys + 5;
        break;
    case LAST_ROW_ID: c->rows[0] = KR_NO_ROW; break;
    case NULL_ROW:
        can = n_null > 0;
        c->rows[c->n - 1] = can ? row_id(s, at[0]) : 0;
        break;
    case ROW_TWICE:
        can = c->n > 1;
        c->rows[c->n - 1] = c->rows[0];
        break;
    case NULL_KEY: keys->validity = first_is_null; break;
    case OTHER_TYPE:
        keys->type = keys->type == KR_U32 ? KR_DATE32 : KR_U32;
        keys->count = kr_type_nbytes(s->scene->type) < 4 ? 0 : keys->count;
        *want = KR_ERR_TYPE;
        break;
    default:
        kr_value_store_bits(keys->type, c->keys.data, 0, kr_value_of_code(keys->type, UINT64_MAX));
        *want = kr_spec_refuses(s->spec, keys, &must_name);
        can = *want != KR_OK;
    }
    free(at);
    return can;
}

static int try_refusal(subject *s, task what)
{
    change c;
    kr_error err = {0};
    kr_status want;
    int good = 1;
    make_change(s, what, &c);
    kr_column keys = c.keys.view;
    if (spoil(s, what, &c, &keys, &want)) {
        const kr_status status = set_keys(s, c.rows, &keys, NULL, &err);
        good = kr_test_refused(s->suite, want, status, &err, task_names[what]);
        if (good && want == KR_ERR_LIMIT)
            kr_test_expect(s->suite,
                           strstr(err.text, kr_spec_wants_near(s->spec) ? "spread=" : "mode=3d") != NULL,
                           "the error names what to change");
        good = good && check_index(s, KR_OK);
        if (!good)
            printf("  after a change that was to be refused: %s\n", task_names[what]);
    }
    free_change(&c);
    return good;
}

/* ---- Sequences ------------------------------------------------------------------------------ */

static int begin(subject *s, kr_device *device, kr_error *err)
{
    const scene *of = s->scene;
    s->model = (kr_fixture){.suite = s->suite};
    s->model.test = (kr_case){.name = "set-keys",
                              .pattern = of->pattern,
                              .keys = of->keys,
                              .probes = 40,
                              .nulls = of->nulls,
                              .row_ids = of->row_ids};
    kr_case_data_make(s->suite, &s->model.test, 500, of->type, &s->model.data);
    s->before = kr_in_use(device);
    return kr_index_create(device, s->spec, &s->model.data.keys.view, s->model.data.row_ids, NULL, &s->index,
                           err) == KR_OK;
}

static void end(subject *s)
{
    kr_index_destroy(s->index);
    s->index = NULL;
    kr_fixture_free(&s->model);
}

/* Questions about values need a column that covers the row ids. */
static void run_sequence(subject *s, kr_stream *stream)
{
    const uint32_t rounds = s->suite->reduced ? 1 : 2;
    kr_error err = {0};
    int good = begin(s, s->on->device, &err);
    if (!good)
        kr_test_fail(s->suite, "kr_index_create: %s", err.text);
    for (uint32_t i = 0; good && i < rounds * N_TASKS; ++i)
        good = try_change(s, i < N_TASKS ? (task)i : (task)kr_rng_below(&s->rng, N_TASKS),
                          i % 2 ? stream : NULL);
    for (int what = N_TASKS; good && what < N_ALL_TASKS; ++what)
        good = try_refusal(s, (task)what);
    good = good && try_change(s, SOME_ROWS, NULL);
    end(s);
    kr_test_expect(s->suite, kr_in_use(s->on->device) == s->before, "a changed index releases all it took");
}

/* ---- Caps ----------------------------------------------------------------------------------- */

/* A cap with room for the index but, at first, not for the change: it is refused and nothing changes. Returns
 * whether the change was refused, or -1 if there is no index. */
static int change_under_cap(subject *s, uint64_t cap)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = cap};
    kr_suite_device capped = *s->on;
    kr_error err = {0};
    change c;
    int refused = -1;
    if (!kr_test_ok(s->suite, kr_open_like(s->on, &options, &capped.device, &err), &err, "kr_device_open"))
        return 0;
    if (begin(s, capped.device, &err)) {
        make_change(s, ALL_ROWS, &c);
        const kr_status status = kr_index_set_keys(s->index, c.rows, &c.keys.view, NULL, &err);
        refused = status != KR_OK;
        if (refused)
            kr_test_refused(s->suite, KR_ERR_DEVICE_MEMORY, status, &err, "kr_index_set_keys under a cap");
        else
            apply(s, &c);
        check_index(s, KR_ERR_DEVICE_MEMORY);
        free_change(&c);
    }
    end(s);
    kr_test_expect(s->suite, kr_in_use(capped.device) == 0, "nothing is left under a cap");
    kr_device_close(capped.device);
    return refused;
}

/* The index is built under every cap from somewhat below its estimate on, which of kinds that keep bits for
 * all values is far too high. */
static void run_caps(subject *s)
{
    const kr_column keys = {.type = s->scene->type, .count = s->scene->keys, .data = &keys};
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_error err = {0};
    uint32_t refused = 0, done = 0;
    if (!kr_test_ok(s->suite, kr_index_estimate(s->on->device, s->spec, &keys, &estimate, &err), &err,
                    "kr_index_estimate"))
        return;
    const uint64_t least = kr_spec_wants_near(s->spec) ? 0 : estimate.footprint_nbytes / 8;
    for (uint64_t cap = least + 1000; !s->suite->has_failed && done < 2; cap += cap / 12) {
        const int came = change_under_cap(s, cap);
        refused += came == 1;
        done += came == 0;
        if (!kr_test_expect(s->suite, cap < 100 * estimate.peak_nbytes + (1 << 20), "a large cap is enough"))
            break;
    }
    /* Moving primitives may take less than making them did, and so may a change of what was built by parts.
     */
    kr_test_expect(s->suite,
                   done && (refused || strstr(s->spec, "update=refit") || strstr(s->spec, "build=parts")),
                   "small caps refuse the change, large ones do not");
}

/* ---- Which specs ---------------------------------------------------------------------------- */

static void refuse_incapable(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const uint32_t row = 0, key = 5;
    const kr_column keys = {.type = KR_U32, .count = 1, .data = &key};
    kr_error err = {0};
    kr_index *index = NULL;
    if (!kr_test_ok(suite, kr_index_create(on->device, spec, &keys, NULL, NULL, &index, &err), &err,
                    "kr_index_create"))
        return;
    kr_test_refused(suite, KR_ERR_UNSUPPORTED, kr_index_set_keys(index, &row, &keys, NULL, &err), &err,
                    "kr_index_set_keys of an index that cannot");
    kr_index_destroy(index);
}

static void test_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    subject s = {.suite = suite, .on = on, .spec = spec, .rng = {suite->seed}};
    kr_error err = {0};
    kr_stream *stream = NULL;
    const char *must_name;
    if (!(kr_spec_capabilities(spec) & KR_CAN_SET_KEYS) || kr_spec_keeps_on_host(spec)) {
        refuse_incapable(suite, on, spec);
        return;
    }
    if (!kr_test_ok(suite, kr_stream_create(on->device, &stream, &err), &err, "kr_stream_create"))
        return;
    for (uint32_t i = 0; i < sizeof scenes / sizeof scenes[0] && !suite->has_failed; ++i) {
        s.scene = &scenes[i];
        if (suite->reduced && !s.scene->reduced)
            continue;
        kr_test_column keys =
            kr_test_column_make(s.scene->type, s.scene->keys, s.scene->pattern, KR_NULLS_NONE, suite->seed);
        if (kr_spec_refuses(spec, &keys.view, &must_name) == KR_OK)
            run_sequence(&s, stream);
        kr_test_column_free(&keys);
    }
    kr_stream_destroy(stream);
    s.scene = &(scene){
        kr_fitting_type(spec, KR_U32), KR_PATTERN_DENSE, 1000, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 1};
    if (!suite->has_failed && (on->is_host || strstr(spec, "update=")))
        run_caps(&s);
}

/* SET-KEYS/DEVICE/SPEC, also for brief specs with an option for it. */
void kr_run_set_keys(kr_suite *suite)
{
    if ((suite->listed->is_brief && !strstr(suite->spec, "update=")) ||
        !kr_test_begin(suite, "set-keys/%s/%s", suite->on->info.name, suite->spec) || !kr_device_runs(suite))
        return;
    test_spec(suite, suite->on, suite->spec);
    kr_test_end(suite);
}
