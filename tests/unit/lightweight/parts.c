/* Searching a partitioned batch: keys for which a guess by even spread is wrong, in gaps of every size, and
 * through levels of pivots. Here one part is the entire index, or an eighth of it, so that small indexes have
 * large gaps. */
#include "index/lightweight/parts.h"
#include "index/families/pivot/pivot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS_MOST = 70000, KEYS_KEPT_MOST = 1300000, PROBES = 4000 };
enum { DENSE, SPREAD, EQUAL, DOUBLING, OUTLIERS, RUNS, ENDS, N_PATTERNS };

static uint64_t state = 42;

static uint64_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 11 ^ state << 21;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t key_of(int pattern, uint64_t i, uint64_t n, uint64_t largest)
{
    switch (pattern) {
    case DENSE: return i;
    case SPREAD: return next_random() & largest;
    case EQUAL: return largest / 3;
    case DOUBLING: return largest >> i % (largest >> 32 ? 64 : 32);
    case OUTLIERS: return i + 1 < n ? i / 2 : largest; /* the last one makes all others look small */
    case RUNS: return largest / 7 * (i * 7 / n) + i % 3;
    default: return i % 2 ? largest : 0;
    }
}

static uint64_t *make_keys(int pattern, uint64_t n, uint64_t largest)
{
    uint64_t *keys = malloc(n * sizeof *keys);
    assert_non_null(keys);
    for (uint64_t i = 0; i < n; ++i)
        keys[i] = key_of(pattern, i, n, largest);
    qsort(keys, n, sizeof *keys, by_value);
    return keys;
}

/* The first entry with a key >= bound. */
static uint64_t lower_bound(const uint64_t *keys, uint64_t n, uint64_t bound)
{
    uint64_t first = 0, last = n;
    while (first < last) {
        const uint64_t middle = first + (last - first) / 2;
        if (keys[middle] < bound)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* ---- One batch ------------------------------------------------------------------------------- */

enum { BITS_MOST = 3, SEGMENT = PROBES / 3 + 1, SEGMENTS_MOST = 4 + (1 << BITS_MOST) };

typedef struct sample {
    kr_device *device;
    uint32_t wide; /* 1: 64-bit codes */
    uint32_t aos;
    uint32_t kept; /* 1: through levels of pivots */
    uint32_t bits; /* of the parts */
    const uint64_t *keys;
    uint64_t n;
} sample;

static void put(void *to, uint64_t i, uint32_t wide, uint64_t value)
{
    if (wide)
        ((uint64_t *)to)[i] = value;
    else
        ((uint32_t *)to)[i] = (uint32_t)value;
}

static void *allocate(uint64_t nbytes)
{
    void *data = aligned_alloc(64, (nbytes + 64) / 64 * 64);
    assert_non_null(data);
    return data;
}

/* Row ids are positions, plus 1. */
static kr_store store_of(const sample *of)
{
    const uint32_t words = (of->wide ? 2 : 1) + 1;
    kr_store store = {
        .n = of->n, .key_bits = of->wide ? 64 : 32, .layout = of->aos ? KR_LAYOUT_AOS : KR_LAYOUT_SOA};
    void *keys = allocate(of->n * words * sizeof(uint32_t));
    uint32_t *rows = allocate(of->n * sizeof *rows);
    for (uint64_t i = 0; i < of->n; ++i) {
        uint32_t *entry = (uint32_t *)keys + i * words;
        if (of->aos) {
            memcpy(entry, &of->keys[i], (words - 1) * sizeof *entry);
            entry[words - 1] = (uint32_t)i + 1;
        } else {
            put(keys, i, of->wide, of->keys[i]);
        }
        rows[i] = (uint32_t)i + 1;
    }
    store.keys.data = keys;
    store.rows.data = rows;
    return store;
}

/* By the definition in index/families/pivot/pivot_params.h. */
static kr_parts_levels levels_of(const sample *of)
{
    pivot_shape shape;
    pivot_shape_of(of->n, KR_PARTS_NODE + 1, 0, &shape);
    kr_parts_levels levels = {NULL, shape.n_levels, 0, {0}};
    assert_true(shape.n_levels <= KR_PARTS_LEVELS);
    if (!of->kept)
        return levels;
    void *pivots = allocate(shape.n_slots * sizeof(uint64_t));
    uint64_t width = KR_PARTS_NODE;
    for (uint32_t level = 0; level < shape.n_levels; ++level, width *= KR_PARTS_NODE + 1) {
        const uint32_t first = shape.starts[level], end = level ? shape.starts[level - 1] : shape.n_slots;
        levels.starts[level] = first;
        for (uint32_t i = 0; i < end - first; ++i) {
            const uint64_t last = width * (1 + i + i / KR_PARTS_NODE) - 1;
            put(pivots, first + i, of->wide, last + 1 < of->n ? of->keys[last] : UINT64_MAX);
        }
    }
    levels.pivots = pivots;
    return levels;
}

typedef struct range {
    uint64_t lower, upper;
} range;

static int by_lower(const void *a, const void *b)
{
    return by_value(&((const range *)a)->lower, &((const range *)b)->lower);
}

/* Keys of the index, their neighbours, both ends and numbers; in order, so that parts follow each other. */
static void make_probes(const sample *of, range *probes)
{
    const uint64_t largest = of->wide ? UINT64_MAX : UINT32_MAX;
    for (uint64_t i = 0; i < PROBES; ++i) {
        for (int end = 0; end < 2; ++end) {
            const uint64_t key = of->keys[next_random() % of->n], turn = i + (uint64_t)end;
            const uint64_t some[] = {
                key, key + 1, key - 1, next_random(), turn % 16 ? key : 0, turn % 16 ? key : largest};
            *(end ? &probes[i].upper : &probes[i].lower) = some[turn % 6] & largest;
        }
        probes[i].upper = i % 5 ? probes[i].upper : probes[i].lower;
    }
    qsort(probes, PROBES, sizeof *probes, by_lower);
}

typedef struct parts {
    uint32_t starts[(1 << BITS_MOST) + 1], n_segments;
    kr_segment segments[SEGMENTS_MOST];
} parts;

static void make_parts(const sample *of, const range *probes, parts *made)
{
    uint32_t i = 0;
    made->n_segments = 0;
    for (uint32_t part = 0; part < 1u << of->bits; ++part) {
        const uint64_t end = kr_batch_cut_at(of->n, of->bits, (uint64_t)part + 1);
        made->starts[part] = i;
        while (i < PROBES &&
               (part + 1 == 1u << of->bits || lower_bound(of->keys, of->n, probes[i].lower) <= end))
            ++i;
        for (uint32_t first = made->starts[part]; first < i; first += SEGMENT)
            made->segments[made->n_segments++] = (kr_segment){part, first};
    }
    made->starts[1u << of->bits] = PROBES;
}

/* A probe in five is a NULL. */
static int is_null(uint64_t i)
{
    return i % 5 == 3;
}

typedef struct columns {
    uint64_t lower[PROBES], upper[PROBES]; /* of either width */
    uint8_t validity[PROBES / 8];
    parts cut;
    kr_store store;
    kr_parts_levels levels;
} columns;

static void search(const sample *of, const columns *in, int ranges, uint32_t what, void *out)
{
    const kr_partition_view view = {in->cut.starts, in->cut.segments, &in->cut.n_segments,
                                    SEGMENTS_MOST,  of->bits,         SEGMENT};
    const kr_type type = of->wide ? KR_U64 : KR_U32;
    const kr_locate job = {
        .batch = {.lower = in->lower,
                  .upper = ranges ? in->upper : NULL,
                  .lower_type = type,
                  .upper_type = type,
                  .lower_validity = in->validity},
        .put = {.what = what, .out = out},
        .n = PROBES,
        .partition = &view,
    };
    kr_error err = {0};
    kr_work w = kr_work_on(of->device, NULL, &err);
    if (of->wide)
        kr_parts_locate_u64(&w, &in->store, &in->levels, &job);
    else
        kr_parts_locate_u32(&w, &in->store, &in->levels, &job);
    if (kr_work_end(&w) != KR_OK)
        fail_msg("%s", err.text);
}

static void check_answers(const sample *of, const columns *in, const range *probes)
{
    static uint32_t found[PROBES];
    static kr_match matches[PROBES];
    static uint8_t flags[PROBES];
    static uint64_t counts[PROBES];
    const uint64_t largest = of->wide ? UINT64_MAX : UINT32_MAX;
    search(of, in, 0, KR_PUT_ROW, found);
    search(of, in, 1, KR_PUT_MATCH, matches);
    search(of, in, 1, KR_PUT_FLAG, flags);
    search(of, in, 1, KR_PUT_COUNT, counts);
    for (uint64_t i = 0; i < PROBES; ++i) {
        const uint64_t low = probes[i].lower, high = probes[i].upper;
        const uint64_t first = lower_bound(of->keys, of->n, low);
        const uint64_t last = high == largest ? of->n : lower_bound(of->keys, of->n, high + 1);
        const int hit = !is_null(i) && first < of->n && of->keys[first] == low;
        const uint64_t n = is_null(i) || high < low ? 0 : last - first;
        assert_int_equal(found[i], hit ? first + 1 : KR_NO_ROW);
        assert_int_equal(matches[i].count, n);
        assert_int_equal(flags[i], n != 0);
        assert_int_equal(counts[i], n);
        if (n)
            assert_int_equal(matches[i].where, first);
    }
}

static void check(const sample *of)
{
    static columns in;
    static range probes[PROBES];
    make_probes(of, probes);
    make_parts(of, probes, &in.cut);
    in.store = store_of(of);
    in.levels = levels_of(of);
    memset(in.validity, 0, sizeof in.validity);
    for (uint64_t i = 0; i < PROBES; ++i) {
        put(in.lower, i, of->wide, probes[i].lower);
        put(in.upper, i, of->wide, probes[i].upper);
        in.validity[i / 8] = (uint8_t)(in.validity[i / 8] | !is_null(i) << i % 8);
    }
    check_answers(of, &in, probes);
    free(in.store.keys.data);
    free(in.store.rows.data);
    free((void *)in.levels.pivots);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* 4111 entries are the most that are halved; then gaps of 32 to 512 entries. With levels of pivots 65537
 * entries of 32 bits are the first for which nodes of one level are read, 589754 of two. */
static void check_width(uint32_t wide, uint32_t aos, uint32_t kept)
{
    static const uint64_t sizes[] = {1,    7,    8,     9,         73,    100,   4096,   4111,          4112,
                                     8191, 8200, 30001, KEYS_MOST, 65536, 65537, 250001, KEYS_KEPT_MOST};
    kr_device *device = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && (kept || sizes[s] <= KEYS_MOST); ++s)
        for (int pattern = 0; pattern < N_PATTERNS; ++pattern) {
            uint64_t *keys = make_keys(pattern, sizes[s], wide ? UINT64_MAX : UINT32_MAX);
            check(&(sample){device, wide, aos, kept, 0, keys, sizes[s]});
            check(&(sample){device, wide, aos, kept, BITS_MOST, keys, sizes[s]});
            free(keys);
        }
    kr_device_close(device);
}

static void finds_u32(void **unused)
{
    (void)unused;
    check_width(0, 0, 0);
}

static void finds_u64(void **unused)
{
    (void)unused;
    check_width(1, 0, 0);
}

static void finds_entries_u32(void **unused)
{
    (void)unused;
    check_width(0, 1, 0);
}

static void finds_entries_u64(void **unused)
{
    (void)unused;
    check_width(1, 1, 0);
}

static void finds_through_pivots_u32(void **unused)
{
    (void)unused;
    check_width(0, 0, 1);
}

static void finds_through_pivots_u64(void **unused)
{
    (void)unused;
    check_width(1, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_u32),
        cmocka_unit_test(finds_u64),
        cmocka_unit_test(finds_entries_u32),
        cmocka_unit_test(finds_entries_u64),
        cmocka_unit_test(finds_through_pivots_u32),
        cmocka_unit_test(finds_through_pivots_u64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
