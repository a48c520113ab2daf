/* kr_index_update: after every batch the index is valid and answers as one of the remaining rows does, after
 * every refusal as before. */
#include "index/kinds/kind.h"
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kr_scene_of_rows scenes[] = {
    {KR_U32, KR_PATTERN_DUPLICATES, 300, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 1},
    {KR_U64, KR_PATTERN_ROWS, 200, KR_NULLS_SOME, KR_ROW_IDS_SPARSE, 1},
    {KR_U64, KR_PATTERN_ENDS, 400, KR_NULLS_SOME, KR_ROW_IDS_SPARSE, 0},
    {KR_U8, KR_PATTERN_RANDOM, 90, KR_NULLS_SLICED, KR_ROW_IDS_SHUFFLED, 1},
    {KR_I8, KR_PATTERN_DENSE, 256, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 0},
    {KR_U8, KR_PATTERN_EQUAL, 40, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 0},
    {KR_U16, KR_PATTERN_RANDOM, 500, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_I64, KR_PATTERN_RANDOM, 33, KR_NULLS_SLICED, KR_ROW_IDS_HIGH, 0},
    {KR_F32, KR_PATTERN_EXTREME, 64, KR_NULLS_NONE, KR_ROW_IDS_ASCENDING, 0},
    {KR_F64, KR_PATTERN_DUPLICATES, 700, KR_NULLS_SOME, KR_ROW_IDS_SHUFFLED, 0},
    {KR_U32, KR_PATTERN_DENSE, 4000, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_U64, KR_PATTERN_DENSE, 1, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 0},
    {KR_U32, KR_PATTERN_DENSE, 0, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 1},
    {KR_U8, KR_PATTERN_RANDOM, 0, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_U32, KR_PATTERN_DENSE, 50, KR_NULLS_ALL, KR_ROW_IDS_POSITIONS, 0},
};

/* ---- Sequences ------------------------------------------------------------------------------ */

static int refuse(kr_subject *s, kr_status want, const kr_column *inserts, const uint32_t *ids,
                  const kr_column *deletes, const char *what)
{
    kr_error err = {0};
    const uint64_t in_use = kr_in_use(s->on->device);
    const kr_status status = kr_index_update(s->index, inserts, ids, deletes, NULL, &err);
    const int good = kr_test_refused(s->suite, want, status, &err, what) &&
                     kr_test_expect(s->suite, kr_in_use(s->on->device) == in_use,
                                    "a refused update releases what it took") &&
                     kr_subject_check(s, KR_OK);
    if (!good)
        printf("  after a refused update: %s\n", what);
    return good;
}

static int try_refusals(kr_subject *s)
{
    static const uint64_t bytes[4];
    const kr_type type = s->model.scene.type;
    const uint32_t ids[] = {KR_NO_ROW - 5, KR_NO_ROW};
    const kr_column right = {.type = type, .count = 2, .data = bytes};
    kr_column typed = right, lost = right, many = right;
    typed.type = type == KR_U32 ? KR_DATE32 : KR_U32;
    lost.data = NULL;
    many.count = UINT64_C(1) << 32;
    kr_error err = {0};
    kr_test_refused(s->suite, KR_ERR_ARGUMENT, kr_index_update(NULL, &right, NULL, NULL, NULL, &err), &err,
                    "no index");
    return refuse(s, KR_ERR_ARGUMENT, NULL, ids, &right, "row ids without keys") &&
           refuse(s, KR_ERR_ARGUMENT, &right, ids, &right, "KR_NO_ROW as a row id") &&
           refuse(s, KR_ERR_TYPE, &typed, NULL, &right, "inserts of another type") &&
           refuse(s, KR_ERR_TYPE, &right, NULL, &typed, "deletes of another type") &&
           refuse(s, KR_ERR_ARGUMENT, &lost, NULL, NULL, "inserts without data") &&
           refuse(s, KR_ERR_ARGUMENT, &right, NULL, &lost, "deletes without data") &&
           refuse(s, KR_ERR_LIMIT, &many, NULL, NULL, "2^32 inserts");
}

/* The lowest row id that no row has. */
static uint32_t lowest_free(const kr_model *model)
{
    uint32_t id = 0;
    for (uint64_t i = 0; i < model->n; ++i)
        if (model->rows[i].id == id) {
            ++id;
            i = UINT64_MAX; /* from the first again */
        }
    return id;
}

/* Validation finds a row id given twice; deleting its key removes it. */
static int try_twice(kr_subject *s)
{
    static const uint64_t bytes[4];
    const uint32_t id = s->next_row < KR_NO_ROW ? (uint32_t)s->next_row : lowest_free(&s->model);
    const uint32_t ids[] = {id, id};
    const kr_column keys = {.type = s->model.scene.type, .count = 2, .data = bytes};
    kr_error err = {0};
    const kr_column one = {.type = keys.type, .count = 1, .data = bytes};
    kr_subject_insert(s, &keys, ids);
    kr_model_delete(&s->model, &keys);
    kr_subject_refresh(s);
    /* Inserts an existing row once more, then two at once. */
    return kr_test_ok(s->suite, kr_index_update(s->index, &one, ids, &keys, NULL, &err), &err, "one") &&
           kr_test_ok(s->suite, kr_index_validate(s->index, &err), &err, "one") &&
           kr_test_ok(s->suite, kr_index_update(s->index, &one, ids, NULL, NULL, &err), &err, "its twin") &&
           kr_test_refused(s->suite, KR_ERR_INVARIANT, kr_index_validate(s->index, &err), &err, "its twin") &&
           kr_test_ok(s->suite, kr_index_update(s->index, &keys, ids, &keys, NULL, &err), &err, "twins") &&
           kr_test_refused(s->suite, KR_ERR_INVARIANT, kr_index_validate(s->index, &err), &err, "twins") &&
           kr_test_ok(s->suite, kr_index_update(s->index, NULL, NULL, &keys, NULL, &err), &err, "no twins") &&
           kr_subject_check(s, KR_OK);
}

/* One batch of this sort, and its checks; 0 when one failed. */
static int try_batch(kr_subject *s, uint32_t number, kr_stream *stream)
{
    uint32_t times;
    kr_update_batch b;
    kr_batch_make(&s->model, number, &b);
    const int good = kr_subject_try(s, &b, kr_batch_name(number, &times), stream);
    kr_batch_free(&b);
    return good;
}

static void run_sequence(kr_subject *s, const kr_suite_device *on, kr_stream *stream)
{
    const uint32_t more = s->suite->reduced ? 0 : 10;
    uint32_t times, n = 0;
    kr_error err = {0};
    int good = kr_subject_begin(s, on, &err);
    if (!good)
        kr_test_fail(s->suite, "kr_index_create: %s", err.text);
    while (kr_batch_name(n, &times))
        ++n;
    good = good && kr_subject_check(s, KR_OK);
    for (uint32_t i = 0; good && i < n + more; ++i) {
        const uint32_t number = i < n ? i : (uint32_t)kr_rng_below(&s->model.rng, n);
        for (kr_batch_name(number, &times); good && times > 0; --times)
            good = try_batch(s, number, i % 2 ? stream : NULL);
    }
    if (good && try_refusals(s))
        try_twice(s);
    kr_subject_end(s);
    kr_test_expect(s->suite, kr_in_use(on->device) == s->before, "a changed index releases all it took");
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* An allocator whose n-th call from now on fails, once. */
typedef struct faulty {
    uint64_t countdown; /* 0: none fails */
} faulty;

static void *faulty_allocate(void *ctx, size_t nbytes, void *native_stream)
{
    faulty *f = ctx;
    (void)native_stream;
    return f->countdown && --f->countdown == 0 ? NULL : aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void faulty_release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx;
    (void)nbytes;
    (void)native_stream;
    free(memory);
}

/* The first allocation of an update fails, then the second, until it works. Each time the index answers as
 * before. */
static void fail_batch(kr_subject *s, faulty *f, uint32_t number)
{
    uint32_t times, failed = 0;
    const char *name = kr_batch_name(number, &times);
    kr_update_batch b;
    int good = 1, done = 0;
    kr_batch_make(&s->model, number, &b);
    while (good && !done) {
        kr_error err = {0};
        f->countdown = ++failed;
        const kr_status status =
            kr_index_update(s->index, &b.inserts.view, b.ids, &b.deletes.view, NULL, &err);
        f->countdown = 0;
        done = status == KR_OK;
        if (done)
            kr_subject_apply(s, &b);
        else
            good = kr_test_refused(s->suite, KR_ERR_DEVICE_MEMORY, status, &err, name);
        good = good && kr_subject_check(s, KR_OK);
    }
    if (!good)
        printf("  after allocation %u had failed: %s\n", failed, name);
    else if (b.inserts.view.count + b.deletes.view.count)
        kr_test_expect(s->suite, failed > 1, "an update takes memory");
    kr_batch_free(&b);
}

static void run_faults(kr_subject *s, const kr_suite_device *on)
{
    faulty f = {0};
    kr_suite_device own = *on;
    const kr_device_options options = {.struct_size = sizeof options,
                                       .allocate = faulty_allocate,
                                       .release = faulty_release,
                                       .allocator_ctx = &f};
    kr_error err = {0};
    uint32_t times;
    if (!kr_test_ok(s->suite, kr_open_like(on, &options, &own.device, &err), &err, "kr_device_open"))
        return;
    if (!kr_subject_begin(s, &own, &err))
        kr_test_fail(s->suite, "kr_index_create: %s", err.text);
    for (uint32_t i = 4; !s->suite->has_failed && kr_batch_name(i, &times); i += 5)
        fail_batch(s, &f, i);
    kr_subject_end(s);
    kr_test_expect(s->suite, kr_in_use(own.device) == 0, "failed updates leave nothing");
    kr_device_close(own.device);
}

/* A cap with room for the index but, at first, not for the update. Returns whether that was refused, or -1 if
 * there is no index. */
static int update_under_cap(kr_subject *s, const kr_suite_device *on, uint64_t cap)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = cap};
    kr_suite_device capped = *on;
    kr_error err = {0};
    kr_update_batch b;
    int refused = -1;
    if (!kr_test_ok(s->suite, kr_open_like(on, &options, &capped.device, &err), &err, "kr_device_open"))
        return 0;
    s->model.rng.state = s->suite->seed;
    if (kr_subject_begin(s, &capped, &err)) {
        kr_batch_make(&s->model, KR_BATCH_ALL_REPLACED, &b);
        const kr_status status =
            kr_index_update(s->index, &b.inserts.view, b.ids, &b.deletes.view, NULL, &err);
        refused = status != KR_OK;
        if (refused)
            kr_test_refused(s->suite, KR_ERR_DEVICE_MEMORY, status, &err, "kr_index_update under a cap");
        else
            kr_subject_apply(s, &b);
        kr_subject_check(s, KR_ERR_DEVICE_MEMORY);
        kr_batch_free(&b);
    }
    kr_subject_end(s);
    kr_test_expect(s->suite, kr_in_use(capped.device) == 0, "nothing is left under a cap");
    kr_device_close(capped.device);
    return refused;
}

static void run_caps(kr_subject *s, const kr_suite_device *on)
{
    const kr_column keys = {.type = s->model.scene.type, .count = s->model.scene.keys, .data = &keys};
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_error err = {0};
    uint32_t refused = 0, done = 0;
    if (!kr_test_ok(s->suite, kr_index_estimate(on->device, s->model.spec, &keys, &estimate, &err), &err,
                    "kr_index_estimate"))
        return;
    for (uint64_t cap = estimate.footprint_nbytes / 8 + 1000; !s->suite->has_failed && done < 2;
         cap += cap / 12) {
        const int came = update_under_cap(s, on, cap);
        refused += came == 1;
        done += came == 0;
        if (!kr_test_expect(s->suite, cap < 100 * estimate.peak_nbytes + (1 << 20), "a large cap is enough"))
            break;
    }
    kr_test_expect(s->suite, done && refused, "small caps refuse the update, large ones do not");
}

/* ---- Which specs ---------------------------------------------------------------------------- */

/* 1: the text names the option that is missing, or every kind that can. */
static int names_another(const char *spec, const char *text)
{
    const kr_kind *kind;
    if (kr_spec_capabilities(spec) & KR_CAN_UPDATE)
        return strstr(text, "updates=on") != NULL;
    for (uint32_t i = 0; (kind = kr_kind_at(i)); ++i)
        if (kind->capabilities & KR_CAN_UPDATE && !strstr(text, kind->name))
            return 0;
    return 1;
}

static void refuse_incapable(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const uint8_t key = 5;
    const kr_column keys = {.type = KR_U8, .count = 1, .data = &key};
    kr_error err = {0};
    kr_index *index = NULL;
    if (!kr_test_ok(suite, kr_index_create(on->device, spec, &keys, NULL, NULL, &index, &err), &err,
                    "kr_index_create"))
        return;
    if (kr_test_refused(suite, KR_ERR_UNSUPPORTED, kr_index_update(index, &keys, NULL, NULL, NULL, &err),
                        &err, "kr_index_update of an index that cannot"))
        kr_test_expect(suite,
                       kr_spec_keeps_on_host(spec) ? strstr(err.text, "keep=device") != NULL
                                                   : names_another(spec, err.text),
                       "the error names updates=on, or every kind that can");
    kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
    kr_index_destroy(index);
}

/* Which scenes; BRIEF: one, for brief specs that are not about updates. */
enum { SCENES_ALL, SCENES_REDUCED, SCENES_BRIEF };

static int is_wanted(uint32_t scene, int which)
{
    return which == SCENES_ALL || (which == SCENES_REDUCED ? scenes[scene].reduced : scene == 1);
}

static void test_scenes(kr_subject *s, const kr_suite_device *on, int which)
{
    kr_error err = {0};
    kr_stream *stream = NULL;
    const char *must_name;
    if (!kr_test_ok(s->suite, kr_stream_create(on->device, &stream, &err), &err, "kr_stream_create"))
        return;
    for (uint32_t i = 0; i < sizeof scenes / sizeof scenes[0] && !s->suite->has_failed; ++i) {
        const kr_column no_keys = {.type = scenes[i].type};
        s->model.scene = scenes[i];
        if (is_wanted(i, which) && kr_spec_refuses(s->model.spec, &no_keys, &must_name) == KR_OK)
            run_sequence(s, on, stream);
        if (s->suite->has_failed)
            printf("  %llu keys of %s, pattern %d\n", (unsigned long long)scenes[i].keys,
                   kr_type_name(scenes[i].type), (int)scenes[i].pattern);
    }
    kr_stream_destroy(stream);
}

static void test_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const kr_listed *listed = suite->listed;
    /* A sanitizer on a GPU takes seconds for a scene. */
    const int is_brief = suite->reduced && !on->is_host ? 1 : listed->is_brief && !strstr(spec, "updates=on");
    kr_subject s = {.suite = suite, .on = on, .model = {.spec = spec, .rng = {suite->seed}}};
    test_scenes(&s, on, is_brief ? SCENES_BRIEF : suite->reduced ? SCENES_REDUCED : SCENES_ALL);
    /* Whatever the options, the same code asks for memory, with or without a new scene. */
    if (!on->is_host || (listed->is_brief && !strstr(spec, "rebuild=1.1")))
        return;
    s.model.scene = (kr_scene_of_rows){
        kr_fitting_type(spec, KR_U32), KR_PATTERN_DUPLICATES, 100, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 1};
    if (!suite->has_failed)
        run_faults(&s, on);
    s.model.scene.keys = 1000;
    if (!suite->has_failed && (listed->is_first_to_update || strstr(spec, "rebuild=1.1")))
        run_caps(&s, on);
}

/* An update changes what is kept, so specs that keep the same take the same one. Parts are cut by what an
 * update left, which the searches of partitioned batches read. */
static int is_worth_updating(const kr_listed *listed)
{
    return listed->is_first_stored || (!listed->is_brief && strstr(listed->text, "probes=partitioned"));
}

/* UPDATES/DEVICE/SPEC, also for brief specs that can update. */
void kr_run_updates(kr_suite *suite)
{
    const int can = kr_spec_can_update(suite->spec);
    if ((can ? !is_worth_updating(suite->listed) : suite->listed->is_brief) ||
        !kr_test_begin(suite, "updates/%s/%s", suite->on->info.name, suite->spec) || !kr_device_runs(suite))
        return;
    if (can)
        test_spec(suite, suite->on, suite->spec);
    else
        refuse_incapable(suite, suite->on, suite->spec);
    kr_test_end(suite);
}
