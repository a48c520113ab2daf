/* kr_index_update: after every batch the index is valid and answers as one of the remaining rows does, after
 * every refusal as before. */
#include "batches.h"

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

typedef struct subject {
    kr_suite *suite;
    const kr_suite_device *on;
    kr_model model;
    kr_fixture fixture; /* the questions, and what they should get */
    uint64_t next_row;  /* above all row ids that were given, those of NULLs too */
    kr_index *index;
    uint64_t before; /* bytes in use without the index */
} subject;

/* What the index should answer now. */
static void refresh(subject *s)
{
    const kr_type type = s->model.scene.type;
    const int high = s->model.scene.row_ids == KR_ROW_IDS_HIGH;
    kr_test_column keys = kr_test_column_make(type, s->model.n, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    uint32_t *ids = kr_test_calloc(s->model.n, sizeof *ids);
    for (uint64_t i = 0; i < s->model.n; ++i) {
        kr_value_store_bits(type, keys.data, i, kr_value_of_code(type, s->model.rows[i].code));
        ids[i] = s->model.rows[i].id;
    }
    kr_case_data_free(&s->fixture.data);
    /* Columns of values cover all row ids that were given, three for each of the case's keys, except high
     * ones. */
    s->fixture.test = (kr_case){.name = "updates",
                                .pattern = s->model.scene.pattern,
                                .keys = high ? 0 : s->next_row / 3 + 1,
                                .probes = 40,
                                .row_ids = high ? KR_ROW_IDS_HIGH : KR_ROW_IDS_SPARSE};
    kr_case_data_of(s->suite, &s->fixture.test, (uint32_t)kr_rng_below(&s->model.rng, 1000), &keys, ids,
                    &s->fixture.data);
}

/* Columns lie in host or device memory, by chance; empty ones are NULL, by chance. */
static kr_status update(subject *s, const kr_update_batch *b, kr_stream *stream, kr_error *err)
{
    const kr_column ids = {.type = KR_U32, .count = b->ids ? b->inserts.view.count : 0, .data = b->ids};
    const kr_column *columns[] = {&b->inserts.view, &b->deletes.view, &ids};
    kr_placed placed[3] = {0};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < 3 && !status; ++i)
        status =
            kr_placed_make(s->on->device, kr_rng_below(&s->model.rng, 2) ? KR_PLACE_HOST : KR_PLACE_DEVICE,
                           columns[i], 1, &placed[i], err);
    if (!status)
        status = kr_device_sync(s->on->device, NULL, err);
    if (status) {
        fprintf(stderr, "the test itself ran out of memory: %s\n", err->text);
        exit(1);
    }
    const uint64_t in_use = kr_in_use(s->on->device);
    const int omits = (int)kr_rng_below(&s->model.rng, 2);
    status = kr_index_update(s->index, omits && !ids.count && !columns[0]->count ? NULL : &placed[0].view,
                             ids.count ? placed[2].view.data : NULL,
                             omits && !columns[1]->count ? NULL : &placed[1].view, stream, err);
    if (status && kr_in_use(s->on->device) != in_use)
        kr_test_fail(s->suite, "a refused update keeps %lld bytes",
                     (long long)(kr_in_use(s->on->device) - in_use));
    for (uint32_t i = 0; i < 3; ++i)
        kr_placed_free(&placed[i]);
    return status;
}

/* Adds the rows of a column to the model; ids NULL: those from next_row on. */
static void insert_rows(subject *s, const kr_column *keys, const uint32_t *ids)
{
    kr_model_insert(&s->model, keys, ids, s->next_row);
    if (!ids)
        s->next_row += keys->count;
    for (uint64_t i = 0; ids && i < keys->count; ++i)
        s->next_row = ids[i] >= s->next_row ? ids[i] + UINT64_C(1) : s->next_row;
}

/* The rows after the batch. */
static void apply(subject *s, const kr_update_batch *b)
{
    kr_model_delete(&s->model, &b->deletes.view);
    insert_rows(s, &b->inserts.view, b->ids);
    refresh(s);
}

/* ---- Checks --------------------------------------------------------------------------------- */

static uint64_t counter(const subject *s, const char *name)
{
    for (uint32_t i = 0; kr_index_counter_name(s->index, i); ++i)
        if (strcmp(kr_index_counter_name(s->index, i), name) == 0)
            return kr_index_counter_value(s->index, i);
    return 0;
}

static void check_nodes(subject *s)
{
    const uint64_t lists = counter(s, "lists"), nodes = counter(s, "nodes"), room = counter(s, "node room");
    const uint64_t entries = counter(s, "node entries"), longest = counter(s, "longest list");
    if (lists == 0) {
        kr_test_expect(s->suite, nodes == 0 && longest == 0, "without lists there are no nodes");
        return;
    }
    kr_test_expect(s->suite, nodes >= lists && room >= nodes,
                   "a list has at least one node, and there is memory for all");
    kr_test_expect(s->suite, longest >= 1 && longest <= nodes - lists + 1,
                   "the longest list has some of the nodes");
    kr_test_expect(s->suite, nodes * entries >= s->model.n, "all entries fit the nodes");
    kr_test_expect(s->suite, s->model.n >= (nodes - lists) * entries,
                   "all nodes of a list but the last are full");
}

static void check_stats(subject *s)
{
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    const uint64_t sum = kr_component_sum(s->index);
    if (!kr_test_ok(s->suite, kr_index_query(s->index, &info, &err), &err, "kr_index_query"))
        return;
    if (info.rows != s->model.n)
        kr_test_fail(s->suite, "the index has %llu rows, want %llu", (unsigned long long)info.rows,
                     (unsigned long long)s->model.n);
    if (info.next_row != s->next_row)
        kr_test_fail(s->suite, "the next row id is %llu, want %llu", (unsigned long long)info.next_row,
                     (unsigned long long)s->next_row);
    kr_test_expect(s->suite, sum == info.footprint_nbytes,
                   "the components sum to the footprint after an update");
    kr_test_expect(s->suite, info.peak_nbytes >= info.footprint_nbytes, "the peak includes the footprint");
    if (kr_in_use(s->on->device) - s->before != info.footprint_nbytes)
        kr_test_fail(s->suite, "after an update the device holds %llu bytes more, the footprint is %llu",
                     (unsigned long long)(kr_in_use(s->on->device) - s->before),
                     (unsigned long long)info.footprint_nbytes);
    check_nodes(s);
}

/* Rays find every key where updates put it. With wider types a tracer may confuse rows that lie far away. */
static void check_repairs(subject *s)
{
    const kr_column *keys = &s->fixture.data.keys.view;
    uint64_t *counts = kr_test_calloc(keys->count, sizeof *counts);
    kr_report *report = NULL;
    kr_error err = {0};
    if (!kr_test_ok(s->suite, kr_report_create(&report, &err), &err, "kr_report_create"))
        return;
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = KR_RESULT_COUNT,
                          .out = counts,
                          .report = report,
                          .count_work = 1};
    if (kr_test_ok(s->suite, kr_index_lookup(s->index, keys, &sink, NULL, &err), &err, "kr_index_lookup"))
        kr_test_expect(s->suite, kr_test_work_of(report).repaired == 0, "no key is repaired after an update");
    kr_report_destroy(report);
    free(counts);
}

/* The index is valid and answers as the model; 0 when not. */
static int check_index(subject *s, kr_status allowed)
{
    kr_error err = {0};
    uint32_t refusals = 0;
    const kr_status status = kr_index_validate(s->index, &err);
    if (status != KR_OK && status != allowed)
        return kr_test_ok(s->suite, status, &err, "kr_index_validate");
    if (!kr_fixture_check(&s->fixture, s->model.spec, s->index, allowed, &refusals))
        return 0;
    check_stats(s);
    if (allowed == KR_OK && kr_type_nbytes(s->model.scene.type) <= 2)
        check_repairs(s);
    return !s->suite->has_failed;
}

/* One batch of this sort, and its checks; 0 when one failed. */
static int try_batch(subject *s, uint32_t number, kr_stream *stream)
{
    uint32_t times;
    const char *name = kr_batch_name(number, &times);
    kr_update_batch b;
    kr_error err = {0};
    kr_batch_make(&s->model, number, &b);
    const int too_high = !b.ids && b.inserts.view.count > KR_NO_ROW - s->next_row;
    const kr_status status = update(s, &b, stream, &err);
    int good = too_high ? kr_test_refused(s->suite, KR_ERR_LIMIT, status, &err, name)
                        : kr_test_ok(s->suite, status, &err, name);
    if (good && !too_high)
        apply(s, &b);
    good = good && check_index(s, KR_OK);
    if (!good)
        printf("  after a batch that left %llu rows: %s\n", (unsigned long long)s->model.n, name);
    kr_batch_free(&b);
    return good;
}

/* ---- Sequences ------------------------------------------------------------------------------ */

static int begin(subject *s, const kr_suite_device *on, kr_error *err)
{
    const kr_scene_of_rows *of = &s->model.scene;
    const uint64_t seed = kr_rng_next(&s->model.rng);
    kr_test_column keys = kr_test_column_make(of->type, of->keys, of->pattern, of->nulls, seed);
    uint32_t *ids = kr_test_row_ids(of->row_ids, of->keys, seed);
    s->on = on;
    s->before = kr_in_use(on->device);
    s->fixture = (kr_fixture){.suite = s->suite};
    const kr_status status =
        kr_index_create(on->device, s->model.spec, &keys.view, ids, NULL, &s->index, err);
    s->next_row = 0;
    insert_rows(s, &keys.view, ids);
    refresh(s);
    free(ids);
    kr_test_column_free(&keys);
    return status == KR_OK;
}

static void end(subject *s)
{
    kr_index_destroy(s->index);
    kr_fixture_free(&s->fixture);
    free(s->model.rows);
    s->index = NULL;
    s->model.rows = NULL;
    s->model.n = 0;
}

static int refuse(subject *s, kr_status want, const kr_column *inserts, const uint32_t *ids,
                  const kr_column *deletes, const char *what)
{
    kr_error err = {0};
    const uint64_t in_use = kr_in_use(s->on->device);
    const kr_status status = kr_index_update(s->index, inserts, ids, deletes, NULL, &err);
    const int good = kr_test_refused(s->suite, want, status, &err, what) &&
                     kr_test_expect(s->suite, kr_in_use(s->on->device) == in_use,
                                    "a refused update releases what it took") &&
                     check_index(s, KR_OK);
    if (!good)
        printf("  after a refused update: %s\n", what);
    return good;
}

static int try_refusals(subject *s)
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

/* Validation finds a row id given twice; deleting its key removes it. */
static int try_twice(subject *s)
{
    static const uint64_t bytes[4];
    const uint32_t id = (uint32_t)(s->next_row < KR_NO_ROW ? s->next_row : 0), ids[] = {id, id};
    const kr_column keys = {.type = s->model.scene.type, .count = 2, .data = bytes};
    kr_error err = {0};
    const kr_column one = {.type = keys.type, .count = 1, .data = bytes};
    insert_rows(s, &keys, ids);
    kr_model_delete(&s->model, &keys);
    refresh(s);
    /* Inserts an existing row once more, then two at once. */
    return kr_test_ok(s->suite, kr_index_update(s->index, &one, ids, &keys, NULL, &err), &err, "one") &&
           kr_test_ok(s->suite, kr_index_validate(s->index, &err), &err, "one") &&
           kr_test_ok(s->suite, kr_index_update(s->index, &one, ids, NULL, NULL, &err), &err, "its twin") &&
           kr_test_refused(s->suite, KR_ERR_INVARIANT, kr_index_validate(s->index, &err), &err, "its twin") &&
           kr_test_ok(s->suite, kr_index_update(s->index, &keys, ids, &keys, NULL, &err), &err, "twins") &&
           kr_test_refused(s->suite, KR_ERR_INVARIANT, kr_index_validate(s->index, &err), &err, "twins") &&
           kr_test_ok(s->suite, kr_index_update(s->index, NULL, NULL, &keys, NULL, &err), &err, "no twins") &&
           check_index(s, KR_OK);
}

static void run_sequence(subject *s, const kr_suite_device *on, kr_stream *stream)
{
    const uint32_t more = s->suite->reduced ? 0 : 10;
    uint32_t times, n = 0;
    kr_error err = {0};
    int good = begin(s, on, &err);
    if (!good)
        kr_test_fail(s->suite, "kr_index_create: %s", err.text);
    while (kr_batch_name(n, &times))
        ++n;
    good = good && check_index(s, KR_OK);
    for (uint32_t i = 0; good && i < n + more; ++i) {
        const uint32_t number = i < n ? i : (uint32_t)kr_rng_below(&s->model.rng, n);
        for (kr_batch_name(number, &times); good && times > 0; --times)
            good = try_batch(s, number, i % 2 ? stream : NULL);
    }
    if (good && try_refusals(s))
        try_twice(s);
    end(s);
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
static void fail_batch(subject *s, faulty *f, uint32_t number)
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
            apply(s, &b);
        else
            good = kr_test_refused(s->suite, KR_ERR_DEVICE_MEMORY, status, &err, name);
        good = good && check_index(s, KR_OK);
    }
    if (!good)
        printf("  after allocation %u had failed: %s\n", failed, name);
    else if (b.inserts.view.count + b.deletes.view.count)
        kr_test_expect(s->suite, failed > 1, "an update takes memory");
    kr_batch_free(&b);
}

static void run_faults(subject *s, const kr_suite_device *on)
{
    faulty f = {0};
    kr_suite_device own = *on;
    const kr_device_options options = {.struct_size = sizeof options,
                                       .allocate = faulty_allocate,
                                       .release = faulty_release,
                                       .allocator_ctx = &f};
    kr_error err = {0};
    uint32_t times;
    if (!kr_test_ok(s->suite, kr_device_open(on->info.name, &options, &own.device, &err), &err,
                    "kr_device_open"))
        return;
    if (!begin(s, &own, &err))
        kr_test_fail(s->suite, "kr_index_create: %s", err.text);
    for (uint32_t i = 4; !s->suite->has_failed && kr_batch_name(i, &times); i += 5)
        fail_batch(s, &f, i);
    end(s);
    kr_test_expect(s->suite, kr_in_use(own.device) == 0, "failed updates leave nothing");
    kr_device_close(own.device);
}

/* A cap with room for the index but, at first, not for the update. Returns whether that was refused, or -1 if
 * there is no index. */
static int update_under_cap(subject *s, const kr_suite_device *on, uint64_t cap)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = cap};
    kr_suite_device capped = *on;
    kr_error err = {0};
    kr_update_batch b;
    int refused = -1;
    if (!kr_test_ok(s->suite, kr_device_open(on->info.name, &options, &capped.device, &err), &err,
                    "kr_device_open"))
        return 0;
    s->model.rng.state = s->suite->seed;
    if (begin(s, &capped, &err)) {
        kr_batch_make(&s->model, KR_BATCH_ALL_REPLACED, &b);
        const kr_status status =
            kr_index_update(s->index, &b.inserts.view, b.ids, &b.deletes.view, NULL, &err);
        refused = status != KR_OK;
        if (refused)
            kr_test_refused(s->suite, KR_ERR_DEVICE_MEMORY, status, &err, "kr_index_update under a cap");
        else
            apply(s, &b);
        check_index(s, KR_ERR_DEVICE_MEMORY);
        kr_batch_free(&b);
    }
    end(s);
    kr_test_expect(s->suite, kr_in_use(capped.device) == 0, "nothing is left under a cap");
    kr_device_close(capped.device);
    return refused;
}

static void run_caps(subject *s, const kr_suite_device *on)
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

/* ---- Progress ------------------------------------------------------------------------------- */

typedef struct countdown {
    uint64_t left; /* the call of progress that ends the update; 0: none does */
} countdown;

static int count_down(void *ctx, const char *phase, double fraction)
{
    countdown *c = ctx;
    (void)phase;
    (void)fraction;
    return c->left && --c->left == 0;
}

/* Cancels an update at its first report of progress, at the second, the fourth and so on, until it goes
 * through: keys of `half` come only then. */
static void cancel_update(kr_suite *suite, kr_device *device, kr_index *index, countdown *c,
                          const kr_column *half)
{
    uint64_t *counts = kr_test_calloc(half->count, sizeof *counts);
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_status status = KR_ERR_CANCELLED;
    uint64_t wrong = 0;
    for (uint64_t stop_at = 1; status && !wrong && !suite->has_failed; stop_at *= 2) {
        kr_error err = {0};
        const uint64_t in_use = kr_in_use(device);
        c->left = stop_at;
        status = kr_index_update(index, half, NULL, NULL, NULL, &err);
        c->left = 0;
        if (status && kr_test_refused(suite, KR_ERR_CANCELLED, status, &err, "kr_index_update"))
            kr_test_expect(suite, kr_in_use(device) == in_use, "a cancelled update releases what it took");
        kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
        if (kr_test_ok(suite, kr_index_lookup(index, half, &sink, NULL, &err), &err, "kr_index_lookup"))
            for (uint64_t i = 0; i < half->count; ++i)
                wrong += counts[i] != (status == KR_OK);
    }
    kr_test_expect(suite, wrong == 0, "a cancelled update changes nothing, another one all");
    free(counts);
}

/* Inserts more keys than are indexed, so that everything is built anew. */
static void run_cancel(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const uint64_t n = kr_fitting_type(spec, KR_U32) == KR_U32 ? 150000 : 200;
    const kr_type type = kr_fitting_type(spec, KR_U32);
    kr_test_column keys = kr_test_column_make(type, n, KR_PATTERN_ASCENDING, KR_NULLS_NONE, 1);
    kr_column first = keys.view, half = keys.view;
    countdown c = {0};
    const kr_device_options options = {.struct_size = sizeof options, .progress = {count_down, &c}};
    kr_error err = {0};
    kr_device *device = NULL;
    kr_index *index = NULL;
    first.count = n / 4;
    half.count = n - n / 4;
    half.data = kr_value_at(&keys.view, n / 4);
    if (!kr_test_ok(suite, kr_device_open(on->info.name, &options, &device, &err), &err, "kr_device_open"))
        return;
    if (kr_test_ok(suite, kr_index_create(device, spec, &first, NULL, NULL, &index, &err), &err,
                   "kr_index_create"))
        cancel_update(suite, device, index, &c, &half);
    kr_index_destroy(index);
    kr_device_close(device);
    kr_test_column_free(&keys);
}

/* ---- Which specs ---------------------------------------------------------------------------- */

/* Kinds and specs without updates name a kind with updates, or the missing option. */
static void refuse_incapable(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const uint8_t key = 5;
    const kr_column keys = {.type = KR_U8, .count = 1, .data = &key};
    kr_error err = {0};
    kr_index *index = NULL;
    if (!kr_test_ok(suite, kr_index_create(on->device, spec, &keys, NULL, NULL, &index, &err), &err,
                    "kr_index_create"))
        return;
    kr_test_refused(suite, KR_ERR_UNSUPPORTED, kr_index_update(index, &keys, NULL, NULL, NULL, &err), &err,
                    "kr_index_update of an index that cannot");
    if (kr_spec_capabilities(spec) & KR_CAN_UPDATE)
        kr_test_expect(suite, strstr(err.text, "updates=on") != NULL, "the error names updates=on");
    kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
    kr_index_destroy(index);
}

static int can_update(const char *spec)
{
    char value[32];
    return kr_spec_capabilities(spec) & KR_CAN_UPDATE &&
           (strncmp(spec, "cgrx", 4) != 0 || !strcmp(kr_spec_option(spec, "updates", value), "on"));
}

static void test_spec(kr_suite *suite, const kr_suite_device *on, const char *spec, int deep)
{
    subject s = {.suite = suite, .on = on, .model = {.spec = spec, .rng = {suite->seed}}};
    kr_error err = {0};
    kr_stream *stream = NULL;
    const char *must_name;
    if (!kr_test_ok(suite, kr_stream_create(on->device, &stream, &err), &err, "kr_stream_create"))
        return;
    for (uint32_t i = 0; i < sizeof scenes / sizeof scenes[0] && !suite->has_failed; ++i) {
        const kr_column no_keys = {.type = scenes[i].type};
        s.model.scene = scenes[i];
        if ((!suite->reduced || scenes[i].reduced) && kr_spec_refuses(spec, &no_keys, &must_name) == KR_OK)
            run_sequence(&s, on, stream);
        if (suite->has_failed)
            printf("  %llu keys of %s, pattern %d\n", (unsigned long long)scenes[i].keys,
                   kr_type_name(scenes[i].type), (int)scenes[i].pattern);
    }
    kr_stream_destroy(stream);
    /* Whatever the options, the same code asks for memory, with or without a new scene. */
    s.model.scene = (kr_scene_of_rows){
        kr_fitting_type(spec, KR_U32), KR_PATTERN_DUPLICATES, 100, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 1};
    if (!suite->has_failed && deep)
        run_faults(&s, on);
    s.model.scene.keys = 1000;
    if (!suite->has_failed && deep)
        run_caps(&s, on);
    if (!suite->has_failed && deep)
        run_cancel(suite, on, spec);
}

/* UPDATES/DEVICE/SPEC, also for brief specs with updates. */
void kr_run_updates(kr_suite *suite)
{
    for (uint32_t d = 0; d < suite->n_devices; ++d)
        for (uint32_t k = 0; k < suite->n_specs; ++k) {
            const char *spec = suite->specs[k];
            if ((suite->is_brief[k] && !can_update(spec)) ||
                !kr_test_begin(suite, "updates/%s/%s", suite->devices[d].info.name, spec) ||
                !kr_device_runs(suite, &suite->devices[d], spec))
                continue;
            if (can_update(spec))
                test_spec(suite, &suite->devices[d], spec,
                          suite->devices[d].is_host && (!suite->is_brief[k] || strstr(spec, "rebuild=1.1")));
            else
                refuse_incapable(suite, &suite->devices[d], spec);
            kr_test_end(suite);
        }
}
