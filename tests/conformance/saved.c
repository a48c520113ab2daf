/* kr_index_save and kr_index_load: an index goes through memory and through files, from device to device, and
 * always answers as it did, takes changes as it did, and is saved as the same bytes again. */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const kr_scene_of_rows scenes[] = {
    {KR_U32, KR_PATTERN_DUPLICATES, 300, KR_NULLS_SOME, KR_ROW_IDS_SPARSE, 1},
    {KR_U64, KR_PATTERN_ROWS, 200, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_I16, KR_PATTERN_RANDOM, 150, KR_NULLS_SLICED, KR_ROW_IDS_SHUFFLED, 0},
    {KR_F64, KR_PATTERN_EXTREME, 120, KR_NULLS_SOME, KR_ROW_IDS_SPARSE, 0},
    {KR_I64, KR_PATTERN_RANDOM, 33, KR_NULLS_SLICED, KR_ROW_IDS_HIGH, 0},
    {KR_U8, KR_PATTERN_EQUAL, 40, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_U32, KR_PATTERN_BITS_23, 100, KR_NULLS_SOME, KR_ROW_IDS_SPARSE, 0},
    {KR_U64, KR_PATTERN_BITS_29, 100, KR_NULLS_NONE, KR_ROW_IDS_SHUFFLED, 0},
    {KR_U32, KR_PATTERN_DENSE, 3000, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
    {KR_U64, KR_PATTERN_DENSE, 1, KR_NULLS_NONE, KR_ROW_IDS_SPARSE, 0},
    {KR_U32, KR_PATTERN_DENSE, 50, KR_NULLS_ALL, KR_ROW_IDS_POSITIONS, 0},
    {KR_U32, KR_PATTERN_DENSE, 0, KR_NULLS_NONE, KR_ROW_IDS_POSITIONS, 0},
};

/* ---- Saving and loading --------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char *data;
    uint64_t n;
} bytes;

static bytes save(kr_suite *suite, const kr_index *index)
{
    kr_error err = {0};
    kr_pieces *pieces = NULL;
    const void *piece = NULL;
    uint64_t nbytes = 1, at = 0;
    bytes saved = {0};
    if (!kr_test_ok(suite, kr_index_pieces(index, NULL, &pieces, &err), &err, "kr_index_pieces"))
        return saved;
    saved.n = kr_pieces_nbytes(pieces);
    saved.data = kr_test_calloc(saved.n, 1);
    while (nbytes && !suite->has_failed) {
        double fraction = 0;
        const kr_status status = kr_pieces_next(pieces, &piece, &nbytes, &fraction, &err);
        if (!kr_test_ok(suite, status, &err, "kr_pieces_next") ||
            !kr_test_expect(suite, at + nbytes <= saved.n, "pieces are as long as they say"))
            break;
        if (nbytes)
            memcpy(saved.data + at, piece, nbytes);
        at += nbytes;
    }
    kr_test_expect(suite, at == saved.n, "pieces are all that they say");
    kr_pieces_destroy(pieces);
    return saved;
}

static kr_saved *open_bytes(kr_suite *suite, const bytes *from)
{
    kr_error err = {0};
    kr_saved *saved = NULL;
    kr_test_ok(suite, kr_saved_open_memory(from->data, from->n, NULL, &saved, &err), &err,
               "kr_saved_open_memory");
    return saved;
}

/* The file is gone from its folder while it is used. */
static kr_saved *open_file(kr_suite *suite, const kr_index *index)
{
    char path[] = "/tmp/keyray-conformance-XXXXXX";
    const kr_saved_options options = {.struct_size = sizeof options, .verify = KR_VERIFY_HEADER};
    const int file = mkstemp(path);
    kr_error err = {0};
    kr_saved *saved = NULL;
    if (file < 0) {
        perror(path);
        exit(1);
    }
    close(file);
    if (kr_test_ok(suite, kr_index_save(index, path, NULL, NULL, &err), &err, "kr_index_save"))
        kr_test_ok(suite, kr_saved_open(path, &options, &saved, &err), &err, "kr_saved_open");
    unlink(path);
    return saved;
}

/* ---- One way -------------------------------------------------------------------------------- */

static int check_facts(kr_subject *s, kr_index *loaded)
{
    kr_index_info old = {.struct_size = sizeof old}, info = old;
    kr_error err = {0};
    if (!kr_test_ok(s->suite, kr_index_query(s->index, &old, &err), &err, "kr_index_query") ||
        !kr_test_ok(s->suite, kr_index_query(loaded, &info, &err), &err, "kr_index_query"))
        return 0;
    kr_test_expect(s->suite, strcmp(old.spec, info.spec) == 0, "a loaded index has the same spec");
    kr_test_expect(s->suite, info.rows == old.rows && info.next_row == old.next_row && info.type == old.type,
                   "a loaded index has the same rows");
    kr_test_expect(s->suite, info.footprint_nbytes == kr_component_sum(loaded),
                   "the components of a loaded index sum to its footprint");
    for (uint32_t i = 0; kr_index_counter_name(s->index, i); ++i) {
        const char *name = kr_index_counter_name(s->index, i), *other = kr_index_counter_name(loaded, i);
        const uint64_t was = kr_index_counter_value(s->index, i), is = kr_index_counter_value(loaded, i);
        if (!other || strcmp(name, other) != 0 || was != is)
            kr_test_fail(s->suite, "counter '%s' was %llu, and is '%s' %llu", name, (unsigned long long)was,
                         other ? other : "", (unsigned long long)is);
    }
    return !s->suite->has_failed;
}

/* What is loaded is saved as the same bytes. */
static int check_bytes(kr_subject *s, const kr_index *loaded, const bytes *want)
{
    const bytes again = save(s->suite, loaded);
    const int same = !s->suite->has_failed && again.n == want->n && !memcmp(again.data, want->data, want->n);
    free(again.data);
    return kr_test_expect(s->suite, same, "what is loaded is saved as the same bytes");
}

/* The index of another device takes the place of the subject's. The file is closed before it is used. 0 when
 * something has failed. */
static int travel(kr_subject *s, const kr_suite_device *to, int by_file)
{
    const uint64_t before = to == s->on ? s->before : kr_in_use(to->device);
    const bytes want = save(s->suite, s->index);
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    kr_error err = {0};
    if (!s->suite->has_failed)
        saved = by_file ? open_file(s->suite, s->index) : open_bytes(s->suite, &want);
    if (saved)
        kr_test_ok(s->suite, kr_index_load(to->device, saved, NULL, &loaded, &err), &err, "kr_index_load");
    kr_saved_close(saved);
    int good = loaded && check_facts(s, loaded) && check_bytes(s, loaded, &want);
    free(want.data);
    if (loaded) {
        kr_index_destroy(s->index);
        good = kr_test_expect(s->suite, to == s->on || kr_in_use(s->on->device) == s->before,
                              "an index that was saved releases all it took") &&
               good;
        s->index = loaded;
        s->on = to;
        s->before = before;
        s->is_mapped = by_file && to->is_host;
    }
    return good && kr_subject_check(s, KR_OK);
}

/* ---- Changes -------------------------------------------------------------------------------- */

static int by_code(const void *a, const void *b)
{
    const kr_model_row *x = a, *y = b;
    return x->code != y->code ? (x->code < y->code ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

/* Every third row gets the key of the next one. */
static int set_keys(kr_subject *s)
{
    const kr_type type = s->model.scene.type;
    const uint64_t n = s->model.n / 3;
    kr_test_column keys = kr_test_column_make(type, n, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    uint32_t *ids = kr_test_calloc(n + 1, sizeof *ids);
    kr_error err = {0};
    for (uint64_t i = 0; i < n; ++i) {
        kr_model_row *rows = s->model.rows + 3 * i;
        rows[0].code = rows[1].code;
        ids[i] = rows[0].id;
        kr_value_store_bits(type, keys.data, i, kr_value_of_code(type, rows[0].code));
    }
    const int good = kr_test_ok(s->suite, kr_index_set_keys(s->index, ids, &keys.view, NULL, &err), &err,
                                "kr_index_set_keys");
    qsort(s->model.rows, s->model.n, sizeof *s->model.rows, by_code);
    kr_subject_refresh(s);
    kr_test_column_free(&keys);
    free(ids);
    return good && kr_subject_check(s, KR_OK);
}

static int update(kr_subject *s, uint32_t number)
{
    uint32_t times;
    kr_update_batch b;
    const char *name = kr_batch_name(number, &times);
    kr_batch_make(&s->model, number, &b);
    const int good = kr_subject_try(s, &b, name, NULL);
    kr_batch_free(&b);
    return good;
}

/* 1 where there is nothing to do. */
static int change(kr_subject *s, uint32_t first)
{
    enum { BATCHES = 4 };
    uint32_t n = 0, times;
    int good = 1;
    while (kr_batch_name(n, &times))
        ++n;
    if (kr_spec_can_update(s->model.spec))
        for (uint32_t i = 0; good && i < BATCHES; ++i)
            good = update(s, (first + 5 * i) % n);
    if (kr_spec_capabilities(s->model.spec) & KR_CAN_SET_KEYS && !kr_spec_keeps_on_host(s->model.spec))
        good = good && set_keys(s);
    return good;
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* An allocator whose n-th call from now on fails, once. */
static void *faulty_allocate(void *ctx, size_t nbytes, void *native_stream)
{
    uint64_t *countdown = ctx; /* 0: none fails */
    (void)native_stream;
    return *countdown && --*countdown == 0 ? NULL : aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void faulty_release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx, (void)nbytes, (void)native_stream;
    free(memory);
}

/* 1: it is loaded; 0: there is not enough memory, and nothing is left; -1: the test has failed. */
static int try_load(kr_suite *suite, const bytes *from, const kr_device_options *options)
{
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    if (!kr_test_ok(suite, kr_device_open(suite->on->info.name, options, &device, &err), &err,
                    "kr_device_open"))
        return -1;
    kr_saved *saved = open_bytes(suite, from);
    const kr_status status = saved ? kr_index_load(device, saved, NULL, &index, &err) : KR_ERR_DEVICE_MEMORY;
    kr_saved_close(saved);
    if (status != KR_OK)
        kr_test_refused(suite, KR_ERR_DEVICE_MEMORY, status, &err, "kr_index_load");
    kr_index_destroy(index);
    kr_test_expect(suite, kr_in_use(device) == 0, "nothing is left of what was loaded");
    kr_device_close(device);
    return suite->has_failed ? -1 : status == KR_OK;
}

/* The first allocation fails, then the second, until all is loaded; then caps, from small ones to one that is
 * enough. */
static void run_faults(kr_suite *suite, const bytes *from)
{
    uint64_t countdown = 0, cap = 512;
    kr_device_options faulty = {.struct_size = sizeof faulty,
                                .allocate = faulty_allocate,
                                .release = faulty_release,
                                .allocator_ctx = &countdown},
                      capped = {.struct_size = sizeof capped};
    int loaded = 0;
    for (uint64_t n = 1; !loaded; ++n) {
        countdown = n;
        loaded = try_load(suite, from, &faulty);
    }
    for (loaded = 0; !loaded; cap += cap / 4) {
        capped.memory_cap_nbytes = cap;
        loaded = try_load(suite, from, &capped);
    }
}

enum { COUNTERS_NBYTES = 8192 };

/* ---- The test ------------------------------------------------------------------------------- */

/* Loading takes no more than a build may, but for a few counters. */
static int check_peak(kr_subject *s)
{
    const kr_column keys = {.type = s->model.scene.type, .count = s->model.scene.keys, .data = &keys};
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    if (!kr_test_ok(s->suite, kr_index_estimate(s->on->device, s->model.spec, &keys, &estimate, &err), &err,
                    "kr_index_estimate") ||
        !kr_test_ok(s->suite, kr_index_query(s->index, &info, &err), &err, "kr_index_query"))
        return 0;
    if (info.peak_nbytes > estimate.peak_nbytes + COUNTERS_NBYTES)
        kr_test_fail(s->suite, "loading held %llu bytes, and a build may hold %llu",
                     (unsigned long long)info.peak_nbytes, (unsigned long long)estimate.peak_nbytes);
    return !s->suite->has_failed;
}

/* To the other device and back, with changes on the way. */
static void run_scene(kr_subject *s, const kr_suite_device *on, const kr_suite_device *other)
{
    kr_error err = {0};
    if (!kr_subject_begin(s, on, &err))
        kr_test_fail(s->suite, "kr_index_create: %s", err.text);
    else
        (void)(travel(s, other, 0) && check_peak(s) && change(s, 1) && travel(s, other, 1) && change(s, 2) &&
               travel(s, on, 0) && travel(s, on, 1) && change(s, 3) && travel(s, other, 1));
    if (!s->suite->has_failed && s->suite->on->is_host && s->model.scene.reduced) {
        const bytes last = save(s->suite, s->index);
        run_faults(s->suite, &last);
        free(last.data);
    }
    const kr_suite_device *last = s->on;
    kr_subject_end(s);
    kr_test_expect(s->suite, kr_in_use(last->device) == s->before, "a loaded index releases all it took");
}

/* 1: the spec holds such keys. */
static int holds(const kr_suite *suite, const kr_scene_of_rows *scene)
{
    const char *must_name;
    kr_test_column keys =
        kr_test_column_make(scene->type, scene->keys, scene->pattern, KR_NULLS_NONE, suite->seed);
    const kr_status refusal = kr_spec_refuses(suite->spec, &keys.view, &must_name);
    kr_test_column_free(&keys);
    return refusal == KR_OK;
}

static void run_scenes(kr_suite *suite, const kr_suite_device *other)
{
    for (uint32_t i = 0; i < sizeof scenes / sizeof scenes[0] && !suite->has_failed; ++i) {
        kr_subject s = {.suite = suite, .on = suite->on};
        s.model = (kr_model){.spec = suite->spec, .scene = scenes[i], .rng = {suite->seed + i}};
        if ((suite->reduced && !scenes[i].reduced) || !holds(suite, &scenes[i]))
            continue;
        run_scene(&s, suite->on, other);
        if (suite->has_failed)
            printf("  %llu keys of %s, pattern %d\n", (unsigned long long)scenes[i].keys,
                   kr_type_name(scenes[i].type), (int)scenes[i].pattern);
    }
}

/* SAVED/DEVICE/SPEC. The other device of a GPU is the CPU, if the spec runs there. */
void kr_run_saved(kr_suite *suite)
{
    const uint8_t key = 0;
    const kr_column keys = {.type = KR_U8, .count = 1, .data = &key};
    kr_suite_device host = {.info = {.struct_size = sizeof host.info}, .is_host = 1};
    kr_index *index = NULL;
    kr_error err = {0};
    if (!suite->listed->is_first_stored ||
        !kr_test_begin(suite, "saved/%s/%s", suite->on->info.name, suite->spec) || !kr_device_runs(suite))
        return;
    if (!suite->on->is_host &&
        kr_test_ok(suite, kr_device_open("cpu", NULL, &host.device, &err), &err, "kr_device_open"))
        (void)kr_index_create(host.device, suite->spec, &keys, NULL, NULL, &index, NULL);
    run_scenes(suite, index ? &host : suite->on);
    kr_index_destroy(index);
    kr_device_close(host.device);
    kr_test_end(suite);
}
