/* Partitioning a batch: every probe once, in the part that its lower bound falls into, or its hash names, or
 * a division; and answers back where they came from. One toy family has only cuts, the other only a seed. */
#include "index/partition/partition.h"
#include "base/key/hash.h"
#include "index/lookup/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { PROBES_MOST = 20000 }; /* more than a tile */

/* The keys of the toy index, as ascending codes. */
typedef struct toy {
    kr_type type;
    uint64_t n, *codes;
} toy;

static uint64_t most_of(kr_type type)
{
    return kr_type_key_bits(type) == 64 ? UINT64_MAX : UINT32_MAX;
}

/* Stores the value that has this code. */
static void store(kr_type type, void *data, uint64_t i, uint64_t code)
{
    if (kr_type_key_bits(type) == 64)
        ((uint64_t *)data)[i] = code;
    else
        ((uint32_t *)data)[i] = (uint32_t)code ^ (type == KR_I32 ? 0x80000000u : 0);
}

static uint64_t code_at(kr_type type, const void *codes, uint64_t i)
{
    return kr_type_key_bits(type) == 64 ? ((const uint64_t *)codes)[i] : ((const uint32_t *)codes)[i];
}

static void cuts(kr_work *w, const void *self, uint32_t bits, void *keys)
{
    const toy *index = self;
    (void)w;
    for (uint64_t p = 0; p < (uint64_t)1 << bits; ++p)
        if (kr_type_key_bits(index->type) == 64)
            ((uint64_t *)keys)[p] = index->codes[kr_batch_cut_at(index->n, bits, p)];
        else
            ((uint32_t *)keys)[p] = (uint32_t)index->codes[kr_batch_cut_at(index->n, bits, p)];
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const toy *index = self;
    *lowest = index->codes[0];
    *highest = index->codes[index->n - 1];
}

static const uint64_t seed = UINT64_C(0x1234567890ABCDEF);

static const kr_ordered_ops ordered_ops = {key_range, cuts};

static uint32_t hash_of(kr_type type, uint64_t code)
{
    return kr_type_key_bits(type) == 64 ? kr_code_hash64(code, seed) : kr_code_hash32((uint32_t)code, seed);
}

static uint64_t next_random(void)
{
    static uint64_t state = 42;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ state >> 29;
}

static int by_code(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* ---- Keys and probes ------------------------------------------------------------------------- */

enum { KEYS_EQUAL, KEYS_DENSE, KEYS_CLUSTERS, KEYS_RANDOM, KEYS_AT_TOP, KEYS_AT_ENDS, N_KEYS };

/* All but the last two leave room below and above. */
static toy make_keys(kr_type type, uint64_t n, int pattern)
{
    const uint64_t most = most_of(type);
    toy index = {type, n, malloc(n * sizeof *index.codes)};
    assert_non_null(index.codes);
    for (uint64_t i = 0; i < n; ++i)
        index.codes[i] = pattern == KEYS_EQUAL      ? 123456
                         : pattern == KEYS_DENSE    ? 1000 + i
                         : pattern == KEYS_CLUSTERS ? (i < n / 2 ? 5 + i / 3 : most - 7 - (n - 1 - i))
                         : pattern == KEYS_RANDOM   ? 1 + next_random() % (most - 1)
                         : pattern == KEYS_AT_TOP   ? most - (i ? n - 1 - i : (3 << 20) + 700)
                                                    : (i % 2 ? most : 0);
    qsort(index.codes, n, sizeof *index.codes, by_code);
    return index;
}

enum { PROBES_NEAR, PROBES_ANY, PROBES_EQUAL, PROBES_BELOW, PROBES_ABOVE, PROBES_SORTED, N_PROBES };

static void make_probes(const toy *index, int pattern, uint64_t n, uint64_t *codes)
{
    const uint64_t most = most_of(index->type), lowest = index->codes[0],
                   highest = index->codes[index->n - 1];
    const uint64_t one = index->codes[next_random() % index->n];
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t random = next_random();
        const uint64_t near = (index->codes[(random >> 8) % index->n] + random % 3 - 1) & most;
        codes[i] = pattern == PROBES_EQUAL   ? one
                   : pattern == PROBES_BELOW ? (lowest ? random % lowest : 0)
                   : pattern == PROBES_ABOVE
                       ? (highest < most ? highest + 1 + random % (most - highest) : most)
                   : pattern == PROBES_ANY ? random & most
                                           : near;
    }
    if (pattern == PROBES_SORTED)
        qsort(codes, n, sizeof *codes, by_code);
}

/* ---- What must hold -------------------------------------------------------------------------- */

static uint64_t first_at_least(const toy *index, uint64_t code)
{
    uint64_t low = 0, high = index->n;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (index->codes[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void check_chunks(const kr_partition_view *view, uint64_t n)
{
    const uint32_t parts = 1u << view->bits;
    uint64_t at = 0;
    assert_int_equal(view->starts[0], 0);
    assert_int_equal(view->starts[parts], n);
    for (uint32_t p = 0; p < parts; ++p)
        assert_true(view->starts[p] <= view->starts[p + 1]);
    assert_true(*view->n_segments <= view->most_segments);
    for (uint32_t c = 0; c < *view->n_segments; ++c) {
        const kr_segment segment = view->segments[c];
        assert_true(segment.part < parts && segment.first == at);
        const uint64_t end = view->starts[segment.part + 1];
        assert_true(view->starts[segment.part] <= at && at < end);
        at = end - at < view->segment ? end : at + view->segment;
    }
    assert_int_equal(at, n);
}

/* Where each probe went, as marks and bases say. Every probe of a tile has a mark there. */
static const uint32_t *places_of(const kr_partition *made)
{
    static uint32_t places[PROBES_MOST];
    static uint8_t marked[PROBES_MOST];
    const uint32_t *marks = made->marks, *bases = made->bases;
    memset(marked, 0, sizeof marked);
    for (uint64_t i = 0; i < made->n; ++i) {
        const uint64_t tile = i / made->tile, at = i % made->tile;
        const uint32_t part = kr_partition_mark_part(marks[i]);
        const uint64_t probe = tile * made->tile + kr_partition_mark_source(marks[i]);
        assert_true(part < 1u << made->view.bits && kr_partition_mark_source(marks[i]) < made->tile);
        assert_true(probe < made->n && !marked[probe]);
        marked[probe] = 1;
        places[probe] = bases[(tile << made->view.bits) + part] + (uint32_t)at;
    }
    return places;
}

enum { BY_CUTS, BY_HASH, EVEN, PAIRS, N_WAYS };

/* Even parts from the lowest probe to the highest; where codes may lie outside, of the index's keys. */
static void share_evenly(const toy *index, const uint64_t *probes, uint64_t n, kr_partition_job *job)
{
    uint64_t highest = job->lowest = probes[0];
    for (uint64_t i = 1; i < n; ++i) {
        job->lowest = probes[i] < job->lowest ? probes[i] : job->lowest;
        highest = probes[i] > highest ? probes[i] : highest;
    }
    if (!job->pairs)
        key_range(index, &job->lowest, &highest);
    job->step = ((highest - job->lowest) >> job->bits >> 31) + 1 + next_random() % 3;
    job->even = ((highest - job->lowest) / job->step >> job->bits) + 1;
}

static int is_in_part(const toy *index, const kr_partition_job *job, uint64_t code, uint32_t p)
{
    const uint64_t at = first_at_least(index, code), last = ((uint64_t)1 << job->bits) - 1;
    if (job->even) {
        const uint64_t part = code < job->lowest ? 0 : (code - job->lowest) / job->step / job->even;
        return p == (part < last ? part : last);
    }
    if (!job->cut)
        return hash_of(index->type, code) >> (32 - job->bits) == p;
    return (p == 0 || at > kr_batch_cut_at(index->n, job->bits, p)) &&
           at <= kr_batch_cut_at(index->n, job->bits, (uint64_t)p + 1);
}

/* Places are a permutation that brings each probe to its part. */
static void check_places(const toy *index, const kr_partition *made, const kr_partition_job *job,
                         const uint64_t *probes, int ordered)
{
    static uint8_t taken[PROBES_MOST];
    const uint32_t *places = places_of(made), *order = made->order;
    const kr_partition_view *view = &made->view;
    memset(taken, 0, sizeof taken);
    assert_int_equal(order != NULL, ordered);
    for (uint64_t i = 0; i < made->n; ++i) {
        const uint32_t place = places[i];
        assert_true(place < made->n && !taken[place]);
        taken[place] = 1;
        assert_true(code_at(index->type, made->codes, place) == probes[i]);
        assert_true(!ordered || order[place] == i);
    }
    for (uint32_t p = 0; p < 1u << view->bits; ++p)
        for (uint32_t place = view->starts[p]; place < view->starts[p + 1]; ++place)
            assert_true(is_in_part(index, job, code_at(index->type, made->codes, place), p));
}

/* Each position is in one pair, with its value, in its part. */
static void check_pairs(const kr_partition *made, const kr_partition_job *job, const uint64_t *probes)
{
    static uint8_t taken[PROBES_MOST];
    memset(taken, 0, sizeof taken);
    assert_true(!made->codes && !made->order && !made->marks);
    for (uint32_t p = 0; p < 1u << job->bits; ++p)
        for (uint32_t at = made->view.starts[p]; at < made->view.starts[p + 1]; ++at) {
            const uint64_t i = made->pairs[at] >> 32, value = (probes[i] - job->lowest) / job->step;
            assert_true(i < job->n && !taken[i]);
            taken[i] = 1;
            assert_int_equal(value / job->even, p);
            assert_int_equal(value % job->even, (uint32_t)made->pairs[at]);
        }
}

static void check_back(kr_work *w, const kr_partition *made)
{
    static uint64_t words[2 * PROBES_MOST], answers[2 * PROBES_MOST], out[2 * PROBES_MOST + 1];
    const uint32_t *places = places_of(made);
    const uint8_t *want = (const uint8_t *)words;
    for (uint64_t i = 0; i < 2 * made->n; ++i)
        words[i] = next_random();
    for (uint32_t nbytes = 1; nbytes <= 16; nbytes *= 2) {
        for (uint64_t i = 0; i < made->n; ++i)
            memcpy((uint8_t *)answers + (uint64_t)places[i] * nbytes, want + i * nbytes, nbytes);
        memset(out, 0xA5, sizeof out);
        kr_partition_back(w, made, answers, nbytes, out);
        assert_true(kr_work_goes_on(w));
        assert_memory_equal(out, want, made->n * nbytes);
        assert_int_equal(((uint8_t *)out)[made->n * nbytes], 0xA5);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

enum { WITH_NOTHING, WITH_UPPER, WITH_VALIDITY, N_WITH };

static void check_batch(kr_device *device, const toy *index, const uint64_t *probes, uint64_t n,
                        uint32_t bits, int way, int with)
{
    static uint64_t lower[PROBES_MOST];
    static const uint8_t validity[PROBES_MOST / 8];
    kr_partition_job job = {.cut = way == BY_CUTS ? &ordered_ops : NULL,
                            .self = index,
                            .seed = seed,
                            .n = n,
                            .bits = bits,
                            .pairs = way == PAIRS,
                            .segment = 8192};
    kr_batch batch = {.lower = lower,
                      .upper = with == WITH_UPPER ? lower : NULL,
                      .lower_validity = with == WITH_VALIDITY ? validity : NULL,
                      .lower_type = index->type,
                      .upper_type = index->type};
    kr_error err = {0};
    kr_work w = kr_work_on(device, NULL, &err);
    for (uint64_t i = 0; i < n; ++i)
        store(index->type, lower, i, probes[i]);
    if (way >= EVEN)
        share_evenly(index, probes, n, &job);
    const kr_partition made = kr_type_key_bits(index->type) == 64 ? kr_partition_make_u64(&w, &job, &batch)
                                                                  : kr_partition_make_u32(&w, &job, &batch);
    if (!kr_work_goes_on(&w))
        fail_msg("%s", err.text);
    assert_int_equal(made.n, n);
    assert_int_equal(made.view.bits, bits);
    check_chunks(&made.view, n);
    if (way == PAIRS) {
        check_pairs(&made, &job, probes);
        assert_int_equal(kr_work_end(&w), KR_OK);
        return;
    }
    assert_ptr_equal(batch.lower, made.codes);
    assert_int_equal(batch.lower_type, kr_type_key_bits(index->type) == 64 ? KR_U64 : KR_U32);
    assert_ptr_equal(batch.order, made.order);
    assert_ptr_equal(batch.upper, with == WITH_UPPER ? lower : NULL);
    check_places(index, &made, &job, probes, with != WITH_NOTHING);
    check_back(&w, &made);
    assert_int_equal(kr_work_end(&w), KR_OK);
}

static void check_index(kr_device *device, const toy *index)
{
    static const uint32_t all_bits[] = {1, 5, KR_PART_BITS_MOST};
    static const uint64_t counts[] = {1, 100, 16385, PROBES_MOST};
    static uint64_t probes[PROBES_MOST];
    for (int pattern = 0; pattern < N_PROBES; ++pattern) {
        make_probes(index, pattern, PROBES_MOST, probes);
        for (size_t b = 0; b < LENGTH(all_bits); ++b)
            for (int way = 0; way < N_WAYS; ++way)
                check_batch(device, index, probes, counts[(next_random() >> 20) % LENGTH(counts)],
                            all_bits[b], way, (int)((next_random() >> 20) % N_WITH));
    }
}

static void check_type(kr_type type)
{
    static const uint64_t sizes[] = {1, 63, 64, 65, 1000, (1 << 17) + 3};
    kr_device *device = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    for (size_t s = 0; s < LENGTH(sizes); ++s)
        for (int pattern = 0; pattern < N_KEYS; ++pattern) {
            toy index = make_keys(type, sizes[s], pattern);
            check_index(device, &index);
            free(index.codes);
        }
    assert_int_equal(device->in_use_nbytes, 0);
    kr_device_close(device);
}

static void partitions_u32(void **state)
{
    (void)state;
    check_type(KR_U32);
}

static void partitions_i32(void **state)
{
    (void)state;
    check_type(KR_I32);
}

static void partitions_u64(void **state)
{
    (void)state;
    check_type(KR_U64);
}

/* Batches of every content, at every number of bits, by threads that take turns. */
static void takes_every_form(void **state)
{
    static uint64_t probes[PROBES_MOST];
    kr_device *device = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .threads = 2};
    (void)state;
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    for (int wide = 0; wide < 2; ++wide) {
        toy index = make_keys(wide ? KR_U64 : KR_U32, 30000, KEYS_CLUSTERS);
        make_probes(&index, PROBES_NEAR, PROBES_MOST, probes);
        for (uint32_t bits = 1; bits <= KR_PART_BITS_MOST; ++bits)
            for (int with = 0; with < N_WAYS * N_WITH; ++with)
                check_batch(device, &index, probes, PROBES_MOST, bits, with / N_WITH, with % N_WITH);
        free(index.codes);
    }
    kr_device_close(device);
}

/* Tiles as small as shared memory makes them. */
static void fits_little_shared_memory(void **state)
{
    static uint64_t probes[PROBES_MOST];
    kr_device *device = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .threads = 2};
    (void)state;
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    device->block_nbytes = 52 * 1024;
    for (int wide = 0; wide < 2; ++wide) {
        toy index = make_keys(wide ? KR_U64 : KR_U32, 30000, KEYS_RANDOM);
        make_probes(&index, PROBES_NEAR, PROBES_MOST, probes);
        for (int with = 0; with < N_WITH; ++with)
            check_batch(device, &index, probes, PROBES_MOST - 5, KR_PART_BITS_MOST, BY_CUTS, with);
        free(index.codes);
    }
    kr_device_close(device);
}

static uint32_t bits_for(kr_device *device, const char *text, uint64_t n_probes)
{
    kr_spec spec;
    assert_int_equal(kr_spec_parse(text, &spec, NULL), KR_OK);
    const kr_probe_case of = {.device = device,
                              .spec = &spec,
                              .rows = 1 << 26,
                              .footprint_nbytes = (uint64_t)1 << 30,
                              .key_bits = 32,
                              .n_probes = n_probes};
    return kr_order_plan_probes(&of).part_bits;
}

static void few_probes_make_few_parts(void **state)
{
    kr_device *device = NULL;
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    assert_int_equal(bits_for(device, "array:probes=partitioned", 1), 1);
    assert_int_equal(bits_for(device, "array:probes=partitioned", 1 << 16), 6);
    assert_int_equal(bits_for(device, "array:probes=partitioned", (1 << 21) - 1), 10);
    assert_int_equal(bits_for(device, "array:probes=partitioned", 1 << 21), KR_PART_BITS_MOST);
    assert_int_equal(bits_for(device, "hash:probes=partitioned", 1 << 12), 2);
    assert_int_equal(bits_for(device, "hash:probes=partitioned", 1 << 27), 7);
    assert_int_equal(bits_for(device, "dense:probes=partitioned", 1 << 12), 2);
    kr_device_close(device);
}

/* As measured best on an H200 (src/index/families/direct/README.md): parts of `dense` whose bits and row ids
 * fit shared memory, or their bits alone, or parts that do not. */
static void even_parts_fit_shared_memory(void **state)
{
    static const struct {
        uint32_t rows_bits, mib, part_bits;
    } best[] = {{20, 5, 6}, {24, 73, 10}, {26, 293, 10}, {28, 1170, 8}, {26, 37, 10}};
    kr_device *device = NULL;
    kr_spec spec;
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    assert_int_equal(kr_spec_parse("dense:probes=partitioned", &spec, NULL), KR_OK);
    for (size_t b = 0; b < LENGTH(best); ++b) {
        const kr_probe_case of = {.device = device,
                                  .spec = &spec,
                                  .rows = (uint64_t)1 << best[b].rows_bits,
                                  .footprint_nbytes = (uint64_t)best[b].mib << 20,
                                  .key_bits = 32,
                                  .n_probes = 1 << 27};
        const kr_probe_plan plan = kr_order_plan_probes(&of);
        assert_int_equal(plan.part_bits, best[b].part_bits);
        assert_int_equal(plan.segment, 1 << 15);
    }
    kr_device_close(device);
}

static kr_probe_plan plan_on_gpu(const char *text, uint32_t key_bits, uint32_t rows_bits, uint64_t n_probes)
{
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    const kr_device_ops *ops = device->ops;
    kr_device_ops other = *ops;
    kr_spec spec;
    assert_int_equal(kr_spec_parse(text, &spec, NULL), KR_OK);
    other.is_host = 0; /* what plans know of a GPU */
    device->ops = &other;
    const kr_probe_case of = {.device = device,
                              .spec = &spec,
                              .rows = (uint64_t)1 << rows_bits,
                              .footprint_nbytes = (uint64_t)8 << rows_bits,
                              .key_bits = key_bits,
                              .significant_bits = key_bits,
                              .n_probes = n_probes};
    const kr_probe_plan plan = kr_order_plan_probes(&of);
    device->ops = ops;
    kr_device_close(device);
    return plan;
}

static uint32_t way_on_gpu(const char *text, uint32_t key_bits, uint32_t rows_bits, uint64_t n_probes)
{
    return plan_on_gpu(text, key_bits, rows_bits, n_probes).way;
}

/* The borders of the tables in the kinds' files. */
static void partitions_where_it_pays(void **state)
{
    static const struct {
        const char *text;
        uint32_t key_bits, rows_bits, probes_bits;
    } borders[] = {
        {"pivot", 32, 0, 22},     {"pivot", 32, 25, 22}, {"pivot", 32, 26, 21}, {"pivot:k=9", 64, 20, 21},
        {"array", 32, 17, 21},    {"array", 32, 18, 20}, {"array", 32, 26, 19}, {"array", 32, 30, 18},
        {"array", 64, 26, 18},    {"btree", 32, 20, 20}, {"btree", 64, 20, 18}, {"eytzinger", 32, 22, 24},
        {"eytzinger", 64, 0, 23}, {"hash", 32, 24, 24},  {"hash", 32, 26, 23},  {"hash", 64, 26, 23},
        {"chain", 64, 26, 21},    {"dense", 32, 23, 22}, {"dense", 64, 23, 22},
    };
    (void)state;
    for (size_t b = 0; b < sizeof borders / sizeof *borders; ++b) {
        const uint64_t n = (uint64_t)1 << borders[b].probes_bits;
        assert_int_equal(way_on_gpu(borders[b].text, borders[b].key_bits, borders[b].rows_bits, n),
                         KR_SEARCHED_PARTITIONED);
        assert_int_equal(way_on_gpu(borders[b].text, borders[b].key_bits, borders[b].rows_bits, n - 1),
                         KR_SEARCHED_AS_IS);
    }
    assert_int_equal(way_on_gpu("eytzinger", 32, 21, 1 << 27), KR_SEARCHED_AS_IS);
    assert_int_equal(way_on_gpu("hash", 32, 23, 1 << 27), KR_SEARCHED_AS_IS);
    assert_int_equal(way_on_gpu("chain", 32, 23, 1 << 27), KR_SEARCHED_AS_IS);
    assert_int_equal(way_on_gpu("dense", 32, 22, 1 << 27), KR_SEARCHED_AS_IS);
    assert_int_equal(way_on_gpu("pivot:threads=64", 32, 26, 1 << 27), KR_SEARCHED_AS_IS);
    assert_int_equal(way_on_gpu("pivot:probes=as-is", 32, 26, 1 << 27), KR_SEARCHED_AS_IS);
}

/* As measured best on an H200: docs/performance-lightweight.md. */
static void segments_keep_parts_in_the_cache(void **state)
{
    static const struct {
        uint32_t rows_bits, probes_bits, segment;
    } best[] = {
        {28, 27, 8192}, {28, 25, 2048}, {28, 24, 2048}, {28, 23, 1024}, {28, 22, 1024},
        {28, 21, 8192}, {26, 27, 8192}, {26, 25, 8192}, {26, 24, 4096}, {26, 23, 2048},
        {26, 22, 8192}, {24, 24, 8192}, {20, 27, 8192},
    };
    (void)state;
    for (size_t b = 0; b < sizeof best / sizeof *best; ++b) {
        const kr_probe_plan plan = plan_on_gpu("pivot:k=9,probes=partitioned", 32, best[b].rows_bits,
                                               (uint64_t)1 << best[b].probes_bits);
        assert_int_equal(plan.segment, best[b].segment);
    }
}

static uint64_t piece_under(uint64_t cap, uint64_t n_probes)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = cap};
    kr_device *device = NULL;
    kr_spec spec;
    assert_int_equal(kr_spec_parse("array:probes=partitioned", &spec, NULL), KR_OK);
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    const kr_probe_case of = {
        .device = device, .spec = &spec, .rows = 1 << 20, .key_bits = 32, .n_probes = n_probes};
    const kr_probe_plan plan = kr_order_plan_probes(&of);
    assert_int_equal(plan.part_bits, n_probes >= 1 << 19 ? 9 : 1);
    kr_device_close(device);
    return plan.piece;
}

static void pieces_stay_under_the_cap(void **state)
{
    (void)state;
    assert_int_equal(piece_under(UINT64_MAX, (uint64_t)1 << 40), 1 << 27);
    const uint64_t whole = (uint64_t)17 << 28; /* what all the batch needs */
    assert_int_equal(piece_under(whole + ((uint64_t)35 << 24), 1 << 28), 1 << 24);
    assert_int_equal(piece_under(whole + ((uint64_t)35 << 24) - 1, 1 << 28), 1 << 23);
    assert_int_equal(piece_under(whole - 1, 1 << 28), 1 << 20);
    assert_int_equal(piece_under((uint64_t)52 << 10, 1 << 10), 1 << 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_u32),
        cmocka_unit_test(partitions_i32),
        cmocka_unit_test(partitions_u64),
        cmocka_unit_test(takes_every_form),
        cmocka_unit_test(fits_little_shared_memory),
        cmocka_unit_test(few_probes_make_few_parts),
        cmocka_unit_test(even_parts_fit_shared_memory),
        cmocka_unit_test(partitions_where_it_pays),
        cmocka_unit_test(segments_keep_parts_in_the_cache),
        cmocka_unit_test(pieces_stay_under_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
