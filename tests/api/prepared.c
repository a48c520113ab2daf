/* Prepared lookups: the same answers as lookups, with other contents of the same arrays, and no memory taken.
 * On a GPU tests/gpu/graphs.cu captures them. */
#include "check.h"
#include "device_memory.h"
#include "device_name.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static kr_device *device;
static kr_index *index_of_keys;

enum { KEYS = 60000, PROBES = 1 << 15, ROWS = 6 * PROBES };

/* What threads do at the same time does not depend on the room for rows; under sanitizers all takes
 * long. */
#ifdef __SANITIZE_THREAD__
enum { STEP = 8 };
#elif defined(__SANITIZE_ADDRESS__)
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

static uint32_t keys[KEYS], lower[PROBES], upper[PROBES], values[KEYS];
static uint64_t state = 99;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* A copy in device memory. */
typedef struct arrays {
    kr_column lower, upper, values;
    void *out, *valid, *rows;
} arrays;

static uint64_t out_nbytes(void)
{
    return 2 * PROBES * sizeof(uint64_t);
}

static arrays make_arrays(void)
{
    return (arrays){
        .lower = {.type = KR_U32, .count = PROBES, .data = bring(device, lower, sizeof lower)},
        .upper = {.type = KR_U32, .count = PROBES, .data = bring(device, upper, sizeof upper)},
        .values = {.type = KR_U32, .count = KEYS, .data = bring(device, values, sizeof values)},
        .out = bring(device, NULL, out_nbytes()),
        .valid = bring(device, NULL, PROBES / 8 + 1),
        .rows = bring(device, NULL, ROWS * sizeof(uint32_t)),
    };
}

static void release_arrays(arrays *a)
{
    kr_memory_release(device, (void *)a->lower.data, sizeof lower, NULL);
    kr_memory_release(device, (void *)a->upper.data, sizeof upper, NULL);
    kr_memory_release(device, (void *)a->values.data, sizeof values, NULL);
    kr_memory_release(device, a->out, out_nbytes(), NULL);
    kr_memory_release(device, a->valid, PROBES / 8 + 1, NULL);
    kr_memory_release(device, a->rows, ROWS * sizeof(uint32_t), NULL);
}

static kr_sink sink_of(arrays *a, kr_result result)
{
    return (kr_sink){.struct_size = sizeof(kr_sink),
                     .result = result,
                     .out = a->out,
                     .valid = a->valid,
                     .values = &a->values,
                     .rows = a->rows,
                     .rows_capacity = ROWS,
                     .order = KR_ORDER_KEY};
}

/* Everything that a sink may have written. */
static unsigned char *read_back(const arrays *a)
{
    const uint64_t rows = ROWS * sizeof(uint32_t), valid = PROBES / 8 + 1;
    unsigned char *all = calloc(out_nbytes() + rows + valid, 1);
    WORKS(kr_memory_copy(device, all, a->out, out_nbytes(), NULL, &err));
    WORKS(kr_memory_copy(device, all + out_nbytes(), a->rows, rows, NULL, &err));
    WORKS(kr_memory_copy(device, all + out_nbytes() + rows, a->valid, valid, NULL, &err));
    return all;
}

static void clear(const arrays *a)
{
    void *nothing = calloc(out_nbytes() + ROWS * sizeof(uint32_t), 1);
    WORKS(kr_memory_copy(device, a->out, nothing, out_nbytes(), NULL, &err));
    WORKS(kr_memory_copy(device, a->rows, nothing, ROWS * sizeof(uint32_t), NULL, &err));
    WORKS(kr_memory_copy(device, a->valid, nothing, PROBES / 8 + 1, NULL, &err));
    free(nothing);
}

/* New probes, of which some are in the keys and some are not; ranges of a few keys, some of them empty. */
static void change_probes(const arrays *a)
{
    for (uint32_t i = 0; i < PROBES; ++i) {
        lower[i] = random_below(4 * KEYS);
        upper[i] = lower[i] + random_below(12) - 2;
    }
    WORKS(kr_memory_copy(device, (void *)a->lower.data, lower, sizeof lower, NULL, &err));
    WORKS(kr_memory_copy(device, (void *)a->upper.data, upper, sizeof upper, NULL, &err));
}

enum { POINTS, RANGES, NEAREST, SHAPES };

static const kr_nearest_options below = {.struct_size = sizeof below, .side = KR_NEAREST_BELOW};

static kr_status prepare(int shape, const arrays *a, const kr_sink *sink, kr_prepared **made, kr_error *err)
{
    return shape == POINTS   ? kr_prepare_lookup(index_of_keys, &a->lower, sink, made, err)
           : shape == RANGES ? kr_prepare_range(index_of_keys, &a->lower, &a->upper, sink, made, err)
                             : kr_prepare_nearest(index_of_keys, &a->lower, &below, sink, made, err);
}

static kr_status look_up(int shape, const arrays *a, const kr_sink *sink, kr_error *err)
{
    return shape == POINTS   ? kr_index_lookup(index_of_keys, &a->lower, sink, NULL, err)
           : shape == RANGES ? kr_index_range(index_of_keys, &a->lower, &a->upper, sink, NULL, err)
                             : kr_index_nearest(index_of_keys, &a->lower, &below, sink, NULL, err);
}

static void agree(arrays *a, int shape, kr_result result, const char *spec)
{
    const kr_sink sink = sink_of(a, result);
    kr_prepared *prepared = NULL;
    change_probes(a);
    WORKS(prepare(shape, a, &sink, &prepared, &err));
    CHECK(kr_prepared_is_recorded(prepared) ==
          (strcmp(device_name, "cpu") != 0 && strcmp(spec, "rx") != 0 && strncmp(spec, "cgrx", 4) != 0));
    for (int run = 0; run < 3; ++run) {
        change_probes(a);
        clear(a);
        const uint64_t before = in_use(device);
        WORKS(kr_prepared_run(prepared, NULL, &err));
        CHECK(in_use(device) == before);
        unsigned char *run_wrote = read_back(a);
        clear(a);
        WORKS(look_up(shape, a, &sink, &err));
        unsigned char *want = read_back(a);
        const uint64_t nbytes = out_nbytes() + ROWS * sizeof(uint32_t) + PROBES / 8 + 1;
        const int same = !memcmp(run_wrote, want, nbytes);
        CHECK(same);
        if (!same)
            printf("  %s, shape %d, result %d, run %d\n", spec, shape, (int)result, run);
        free(run_wrote);
        free(want);
    }
    kr_prepared_destroy(prepared);
}

/* ---- ROWS of a few probes, whose matches grow and shrink from run to run --------------------------- */

enum { FEW = 100, WHOLE = 3, SMALL_ROOM = 50, NARROW_ROOM = 5000 };

typedef enum contents { NARROW, WIDE, EMPTY, EVERYTHING, FLOOD, SOME_EMPTY, CONTENTS } contents;

/* The rows of the keys by (key, row id), and their keys. */
static uint32_t by_key[KEYS], keys_in_order[KEYS];

static int compare_keys(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return keys[x] != keys[y] ? (keys[x] > keys[y]) - (keys[x] < keys[y]) : (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void order_keys(void)
{
    for (uint32_t i = 0; i < KEYS; ++i)
        by_key[i] = i;
    qsort(by_key, KEYS, sizeof *by_key, compare_keys);
    for (uint32_t i = 0; i < KEYS; ++i)
        keys_in_order[i] = keys[by_key[i]];
}

/* The first place in the order whose key is `key` or larger. */
static uint32_t place_of(uint64_t key)
{
    uint32_t low = 0, high = KEYS;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys_in_order[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Bounds of the first FEW probes, here and on the device. EVERYTHING fits in ROWS, FLOOD does not. */
static void change_bounds(const arrays *a, contents what, int shape)
{
    for (uint32_t i = 0; i < FEW; ++i) {
        const int all = what == FLOOD || (what == EVERYTHING && i < WHOLE);
        const int none = what == EMPTY || (what == EVERYTHING && !all) || (what == SOME_EMPTY && i % 3);
        lower[i] = all ? 0 : none ? 4 * KEYS + 9 : keys[random_below(KEYS)];
        upper[i] = all ? 4 * KEYS : none ? 4 * KEYS + 5 : lower[i] + (what == NARROW ? 3 : 2000);
        if (shape == POINTS)
            upper[i] = lower[i];
    }
    WORKS(kr_memory_copy(device, (void *)a->lower.data, lower, sizeof lower, NULL, &err));
    WORKS(kr_memory_copy(device, (void *)a->upper.data, upper, sizeof upper, NULL, &err));
}

/* How many rows of a probe are wanted; `rows` gets them in the order of the sink, if they are to be listed.
 */
static uint64_t expect_rows(const kr_sink *sink, uint32_t probe, int listed, uint32_t *rows)
{
    const uint32_t from = place_of(lower[probe]), to = place_of((uint64_t)upper[probe] + 1);
    const uint64_t n = to > from ? to - from : 0;
    if (listed)
        memcpy(rows, by_key + from, n * sizeof *rows);
    if (listed && sink->order == KR_ORDER_ROW)
        qsort(rows, n, sizeof *rows, compare_rows);
    return sink->limit && sink->limit < n ? sink->limit : n;
}

/* Row ids of a probe that fit only in part: any of them, each once. */
static int are_some(const uint32_t *got, uint64_t n_got, const uint32_t *want, uint64_t n)
{
    unsigned char *seen = calloc(KEYS, 1);
    uint64_t right = 0;
    for (uint64_t i = 0; i < n; ++i)
        seen[want[i]] = 1;
    for (uint64_t i = 0; i < n_got; ++i) {
        right += got[i] < KEYS && seen[got[i]];
        if (got[i] < KEYS)
            seen[got[i]] = 0;
    }
    free(seen);
    return right == n_got;
}

/* Offsets tell all that match, row ids are there as far as there is room, and nothing is written behind it.
 */
static int is_right(const kr_sink *sink, const unsigned char *wrote)
{
    static uint32_t want[KEYS];
    const uint64_t *offsets = (const uint64_t *)wrote;
    const uint32_t *rows = (const uint32_t *)(wrote + out_nbytes());
    const uint64_t room = sink->rows_capacity;
    uint64_t at = 0;
    int right = 1;
    for (uint32_t i = 0; i < FEW; ++i) {
        const uint64_t left = at < room ? room - at : 0, n = expect_rows(sink, i, left > 0, want);
        right &= offsets[i] == at;
        if (left)
            right &=
                n <= left ? !memcmp(rows + at, want, n * sizeof *want) : are_some(rows + at, left, want, n);
        at += n;
    }
    for (uint64_t i = room; i < ROWS; ++i)
        right &= rows[i] == 0;
    return right && offsets[FEW] == at;
}

/* Prepared with some bounds, run with all of them. */
static void follow(arrays *a, int shape, const kr_sink *sink, contents first, const char *spec)
{
    kr_prepared *prepared = NULL;
    const uint64_t count = a->lower.count;
    a->lower.count = a->upper.count = FEW;
    change_bounds(a, first, shape);
    WORKS(prepare(shape, a, sink, &prepared, &err));
    for (int run = 0; run < CONTENTS && prepared; ++run) {
        change_bounds(a, (contents)run, shape);
        clear(a);
        const uint64_t before = in_use(device);
        WORKS(kr_prepared_run(prepared, NULL, &err));
        CHECK(in_use(device) == before);
        unsigned char *wrote = read_back(a);
        const int right = is_right(sink, wrote);
        CHECK(right);
        if (!right)
            printf("  %s, shape %d, order %u, limit %llu, room %llu, contents %d, prepared with %d\n", spec,
                   shape, sink->order, (unsigned long long)sink->limit,
                   (unsigned long long)sink->rows_capacity, run, (int)first);
        free(wrote);
    }
    kr_prepared_destroy(prepared);
    a->lower.count = a->upper.count = count;
}

/* Both orders, with a limit where that can be prepared, with enough room for all but FLOOD and with too
 * little. */
static void follow_matches(arrays *a, int shapes, const char *spec)
{
    static const uint64_t rooms[] = {ROWS, NARROW_ROOM, SMALL_ROOM, 0}, limits[] = {0, 7};
    static const contents first[] = {EMPTY, NARROW, EVERYTHING};
    for (int shape = POINTS; shape < shapes; ++shape)
        for (uint32_t order = KR_ORDER_ROW; order <= KR_ORDER_KEY; ++order)
            for (uint32_t l = 0; l < 2; ++l)
                for (uint32_t i = 0; i < 4 * 3; i += STEP) {
                    kr_sink sink = sink_of(a, KR_RESULT_ROWS);
                    sink.order = order;
                    sink.limit = limits[l];
                    sink.rows_capacity = rooms[i / 3];
                    if (order == KR_ORDER_KEY || shape == POINTS || !sink.limit)
                        follow(a, shape, &sink, first[i % 3], spec);
                }
}

/* ---- What is refused ---------------------------------------------------------------------------- */

static void refuse(arrays *a)
{
    kr_sink sink = sink_of(a, KR_RESULT_ROW);
    kr_prepared *prepared = NULL;
    kr_report *report = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_prepare_lookup(NULL, &a->lower, &sink, &prepared, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepare_lookup(index_of_keys, &a->lower, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepare_lookup(index_of_keys, &a->lower, NULL, &prepared, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_run(NULL, NULL, &err));
    CHECK(kr_prepared_scratch_nbytes(NULL) == 0);
    kr_prepared_destroy(NULL);
    WORKS(kr_report_create(&report, &err));
    sink.report = report;
    REFUSED(KR_ERR_UNSUPPORTED, kr_prepare_lookup(index_of_keys, &a->lower, &sink, &prepared, &err));
    kr_report_destroy(report);
    sink = sink_of(a, KR_RESULT_ROWS);
    sink.limit = 3;
    sink.order = KR_ORDER_ROW;
    REFUSED(KR_ERR_UNSUPPORTED,
            kr_prepare_range(index_of_keys, &a->lower, &a->upper, &sink, &prepared, &err));
    CHECK(prepared == NULL);
    if (strcmp(device_name, "cpu") != 0) {
        kr_column host = a->lower;
        host.data = lower;
        sink = sink_of(a, KR_RESULT_ROW);
        REFUSED(KR_ERR_ARGUMENT, kr_prepare_lookup(index_of_keys, &host, &sink, &prepared, &err));
    }
}

/* Once the index has changed, the lookup must be prepared again. */
static void refuse_changed(arrays *a)
{
    const kr_sink sink = sink_of(a, KR_RESULT_ROW);
    const uint32_t more[] = {7, 9};
    const kr_column inserted = {.type = KR_U32, .count = 2, .data = more};
    kr_prepared *prepared = NULL;
    WORKS(kr_prepare_lookup(index_of_keys, &a->lower, &sink, &prepared, &err));
    WORKS(kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_index_update(index_of_keys, &inserted, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_run(prepared, NULL, &err));
    kr_prepared_destroy(prepared);
}

/* The scratch memory counts against the cap; without room nothing is left behind. */
static void refuse_memory(void)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = 4 << 20};
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
    kr_device *whole = device;
    kr_index *kept = index_of_keys;
    kr_prepared *prepared = NULL;
    WORKS(kr_device_open(device_name, &options, &device, &err));
    WORKS(kr_index_create(device, "array", &column, NULL, NULL, &index_of_keys, &err));
    arrays a = make_arrays();
    const kr_sink sink = sink_of(&a, KR_RESULT_ROWS);
    const uint64_t before = in_use(device);
    void *rest = bring(device, NULL, (4 << 20) - before - 4096);
    REFUSED(KR_ERR_DEVICE_MEMORY, prepare(RANGES, &a, &sink, &prepared, &err));
    kr_memory_release(device, rest, (4 << 20) - before - 4096, NULL);
    CHECK(in_use(device) == before);
    release_arrays(&a);
    kr_index_destroy(index_of_keys);
    kr_device_close(device);
    device = whole;
    index_of_keys = kept;
}

/* In whatever order index and prepared lookup go. */
static void destroy_index_first(arrays *a)
{
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
    const kr_sink sink = sink_of(a, KR_RESULT_COUNT);
    kr_index *index = NULL;
    kr_prepared *prepared = NULL;
    WORKS(kr_index_create(device, "pivot", &column, NULL, NULL, &index, &err));
    WORKS(kr_prepare_lookup(index, &a->lower, &sink, &prepared, &err));
    WORKS(kr_prepared_run(prepared, NULL, &err));
    kr_index_destroy(index);
    kr_prepared_destroy(prepared);
    CHECK(kr_prepared_is_recorded(NULL) == 0);
}

/* ---- Two threads -------------------------------------------------------------------------------- */

typedef struct sharing {
    kr_prepared *prepared;
    atomic_int refused, wrong;
} sharing;

/* Runs until one of the threads was refused, which takes luck, but no more of it than this. */
static void *run_often(void *argument)
{
    sharing *s = argument;
    kr_error thread_err = {0};
    for (int run = 0; run < 20000 && !atomic_load(&s->refused); ++run) {
        const kr_status status = kr_prepared_run(s->prepared, NULL, &thread_err);
        atomic_fetch_add(&s->refused, status == KR_ERR_ARGUMENT);
        atomic_fetch_add(&s->wrong, status != KR_OK && status != KR_ERR_ARGUMENT);
    }
    return NULL;
}

/* A second thread is refused, and the first one's answers are whole. */
static void share(arrays *a)
{
    const kr_sink sink = sink_of(a, KR_RESULT_ROW);
    sharing s = {0};
    pthread_t thread;
    WORKS(kr_prepare_lookup(index_of_keys, &a->lower, &sink, &s.prepared, &err));
    clear(a);
    CHECK(pthread_create(&thread, NULL, run_often, &s) == 0);
    run_often(&s);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(atomic_load(&s.wrong) == 0);
    /* Elsewhere a run only enqueues, and two seldom meet. */
    CHECK(strcmp(device_name, "cpu") != 0 || atomic_load(&s.refused) > 0);
    WORKS(kr_prepared_run(s.prepared, NULL, &err));
    unsigned char *run_wrote = read_back(a);
    clear(a);
    WORKS(look_up(POINTS, a, &sink, &err));
    unsigned char *want = read_back(a);
    CHECK(!memcmp(run_wrote, want, out_nbytes()));
    free(run_wrote);
    free(want);
    kr_prepared_destroy(s.prepared);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"array",
                                        "array:probes=partitioned",
                                        "array:probes=sorted",
                                        "eytzinger",
                                        "pivot",
                                        "btree",
                                        "hash",
                                        "chain",
                                        "cgrx",
                                        "cgrx:updates=on",
                                        "rx"};
    static const kr_result results[] = {KR_RESULT_ROW,  KR_RESULT_COUNT,   KR_RESULT_SUM_ROWS,
                                        KR_RESULT_SUM,  KR_RESULT_MIN,     KR_RESULT_EXISTS,
                                        KR_RESULT_ROWS, KR_RESULT_SUM_WIDE};
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint32_t i = 0; i < KEYS; ++i) {
        keys[i] = random_below(4 * KEYS);
        values[i] = i * 3;
    }
    order_keys();
    arrays a = make_arrays();
    for (uint32_t s = 0; s < sizeof specs / sizeof specs[0]; ++s) {
        const int is_hashed = !strcmp(specs[s], "hash") || !strcmp(specs[s], "chain");
        const int shapes = is_hashed ? RANGES : !strcmp(specs[s], "rx") ? NEAREST : SHAPES;
        if (kr_index_create(device, specs[s], &column, NULL, NULL, &index_of_keys, NULL) != KR_OK)
            continue; /* cgrx and rx, where nothing casts rays */
        for (int shape = POINTS; shape < shapes; ++shape)
            for (uint32_t r = 0; r < sizeof results / sizeof results[0]; ++r)
                agree(&a, shape, results[r], specs[s]);
        follow_matches(&a, shapes < NEAREST ? shapes : NEAREST, specs[s]);
        refuse(&a);
        share(&a);
        if (!strcmp(specs[s], "btree"))
            refuse_changed(&a);
        kr_index_destroy(index_of_keys);
    }
    destroy_index_first(&a);
    release_arrays(&a);
    CHECK(in_use(device) == 0);
    refuse_memory();
    kr_device_close(device);
    return failures != 0;
}
