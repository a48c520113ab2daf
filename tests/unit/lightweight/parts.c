/* Searching a partitioned batch: keys for which a guess by even spread is wrong, in gaps of every size. Here
 * one part is the entire index, so that small indexes have large gaps. */
#include "lightweight/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS_MOST = 70000, PROBES = 4000 };
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

typedef struct sample {
    kr_device *device;
    uint32_t wide; /* 1: 64-bit codes */
    uint32_t aos;
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

/* Row ids are positions, plus 1. */
static kr_store store_of(const sample *of, void *keys, uint32_t *rows)
{
    const uint32_t words = (of->wide ? 2 : 1) + 1;
    kr_store store = {
        .n = of->n, .key_bits = of->wide ? 64 : 32, .layout = of->aos ? KR_LAYOUT_AOS : KR_LAYOUT_SOA};
    for (uint64_t i = 0; i < of->n; ++i) {
        if (of->aos) {
            uint32_t *entry = (uint32_t *)keys + i * words;
            memcpy(entry, &of->keys[i], (words - 1) * sizeof *entry);
            entry[words - 1] = (uint32_t)i + 1;
        } else {
            put(keys, i, of->wide, of->keys[i]);
            rows[i] = (uint32_t)i + 1;
        }
    }
    store.keys.data = keys;
    store.rows.data = of->aos ? NULL : rows;
    return store;
}

/* Keys of the index, their neighbours, both ends and numbers. */
static uint64_t probe_of(const sample *of, uint64_t i)
{
    const uint64_t largest = of->wide ? UINT64_MAX : UINT32_MAX, key = of->keys[next_random() % of->n];
    const uint64_t probes[] = {key,           key + 1,          key - 1,
                               next_random(), i % 16 ? key : 0, i % 16 ? key : largest};
    return probes[i % 6] & largest;
}

/* A probe in five is a NULL. */
static int is_null(uint64_t i)
{
    return i % 5 == 3;
}

static void search(const sample *of, const kr_store *store, const void *lower, const void *upper,
                   uint32_t what, void *out)
{
    static uint8_t validity[PROBES / 8];
    for (uint64_t i = 0; i < PROBES; ++i)
        validity[i / 8] = (uint8_t)(validity[i / 8] | !is_null(i) << i % 8);
    static const uint32_t starts[] = {0, PROBES}, n_segments = 3;
    static const kr_segment segments[] = {{0, 0}, {0, PROBES / 3 + 1}, {0, 2 * (PROBES / 3 + 1)}};
    const kr_partition_view view = {starts, segments, &n_segments, n_segments, 0, PROBES / 3 + 1};
    const kr_type type = of->wide ? KR_U64 : KR_U32;
    const kr_locate job = {
        .batch = {.lower = lower,
                  .upper = upper,
                  .lower_type = type,
                  .upper_type = type,
                  .lower_validity = validity},
        .put = {.what = what, .out = out},
        .n = PROBES,
        .partition = &view,
    };
    kr_error err = {0};
    const kr_status status = of->wide ? kr_parts_locate_u64(of->device, store, &job, NULL, &err)
                                      : kr_parts_locate_u32(of->device, store, &job, NULL, &err);
    if (status != KR_OK)
        fail_msg("%s", err.text);
}

static void check(const sample *of)
{
    static uint64_t keys[KEYS_MOST * 2], lower[PROBES], upper[PROBES];
    static uint32_t rows[KEYS_MOST], found[PROBES];
    static kr_match matches[PROBES];
    static uint8_t flags[PROBES];
    static uint64_t counts[PROBES];
    const uint64_t largest = of->wide ? UINT64_MAX : UINT32_MAX;
    const kr_store store = store_of(of, keys, rows);
    uint64_t bounds[PROBES][2];
    for (uint64_t i = 0; i < PROBES; ++i) {
        bounds[i][0] = probe_of(of, i);
        bounds[i][1] = i % 5 ? probe_of(of, i + 1) : bounds[i][0];
        put(lower, i, of->wide, bounds[i][0]);
        put(upper, i, of->wide, bounds[i][1]);
    }
    search(of, &store, lower, NULL, KR_PUT_ROW, found);
    search(of, &store, lower, upper, KR_PUT_MATCH, matches);
    search(of, &store, lower, upper, KR_PUT_FLAG, flags);
    search(of, &store, lower, upper, KR_PUT_COUNT, counts);
    for (uint64_t i = 0; i < PROBES; ++i) {
        const uint64_t low = bounds[i][0], high = bounds[i][1], first = lower_bound(of->keys, of->n, low);
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

/* ---- Tests ----------------------------------------------------------------------------------- */

/* 4111 entries are the most that are halved; then gaps of 32 to 512 entries. */
static void check_width(uint32_t wide, uint32_t aos)
{
    static const uint64_t sizes[] = {1, 7, 8, 9, 100, 4096, 4111, 4112, 8191, 8200, 30001, KEYS_MOST};
    kr_device *device = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int pattern = 0; pattern < N_PATTERNS; ++pattern) {
            uint64_t *keys = make_keys(pattern, sizes[s], wide ? UINT64_MAX : UINT32_MAX);
            check(&(sample){device, wide, aos, keys, sizes[s]});
            free(keys);
        }
    kr_device_close(device);
}

static void finds_u32(void **unused)
{
    (void)unused;
    check_width(0, 0);
}

static void finds_u64(void **unused)
{
    (void)unused;
    check_width(1, 0);
}

static void finds_entries_u32(void **unused)
{
    (void)unused;
    check_width(0, 1);
}

static void finds_entries_u64(void **unused)
{
    (void)unused;
    check_width(1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_u32),
        cmocka_unit_test(finds_u64),
        cmocka_unit_test(finds_entries_u32),
        cmocka_unit_test(finds_entries_u64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
