/* The sort of pairs against the C library's, over sizes, widths, bit ranges, key shapes and threads. */
#include "base/devices/device.h"
#include "base/devices/work.h"
#include "steps.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GUARD = 16 };

/* ---- Oracle: by the bits asked for, then by position ------------------------------------------ */

typedef struct entry {
    uint64_t key;
    uint64_t position;
} entry;

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static uint64_t some_bits(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

typedef enum shape {
    UNIFORM,
    DENSE, /* high bits alike, shuffled */
    ASCENDING,
    DESCENDING,
    EQUAL,
    FEW,
    SKEWED,    /* nine tenths below 1024, the rest anywhere */
    ONE_OTHER, /* all alike but the last */
    LOW_BIT,   /* differ in the lowest bit only */
    HIGH_BITS, /* differ in the upper half only */
    SHAPES
} shape;

static uint64_t make_key(shape kind, uint64_t i, uint64_t n)
{
    switch (kind) {
    case UNIFORM: return some_bits(i);
    case DENSE: return UINT64_C(0xABCD000000000000) + i * 7919 % n;
    case ASCENDING: return i * 3;
    case DESCENDING: return ~(i * 3);
    case FEW: return some_bits(i) % 5 * UINT64_C(0x3333333333);
    case SKEWED: return i % 10 ? some_bits(i) % 1024 : some_bits(i);
    case ONE_OTHER: return i + 1 == n ? 0 : ~UINT64_C(0);
    case LOW_BIT: return UINT64_C(0x8000000080000000) | (some_bits(i) & 1);
    case HIGH_BITS: return some_bits(i) & UINT64_C(0xFFFFFFFFFFFF0000);
    default: return UINT64_C(0xFFFFFFFFFFFFFFFF);
    }
}

/* ---- One case -------------------------------------------------------------------------------- */

typedef struct trial {
    uint32_t key_bits, first_bit, end_bit;
    uint64_t n;
    shape kind;
    int with_rows;
    uint32_t skew; /* elements by which all arrays are off alignment */
} trial;

static uint64_t get(const void *keys, uint32_t key_bits, uint64_t i)
{
    return key_bits == 32 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

static void put(void *keys, uint32_t key_bits, uint64_t i, uint64_t key)
{
    if (key_bits == 32)
        ((uint32_t *)keys)[i] = (uint32_t)key;
    else
        ((uint64_t *)keys)[i] = key;
}

static void expect_sorted(const trial *one, const kr_sort *sort, uint64_t end)
{
    const uint64_t n = one->n;
    const uint32_t width = one->end_bit - one->first_bit;
    const uint64_t mask = width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
    entry *expected = malloc((n + 1) * sizeof *expected);
    assert_non_null(expected);
    for (uint64_t i = 0; i < n; ++i)
        expected[i] = (entry){width ? get(sort->keys_in, one->key_bits, i) >> one->first_bit & mask : 0, i};
    qsort(expected, n, sizeof *expected, compare);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t position = expected[i].position;
        const uint64_t key = get(sort->keys_in, one->key_bits, position);
        const uint32_t row = sort->rows_in ? sort->rows_in[position] : (uint32_t)position;
        if (get(sort->keys_out, one->key_bits, i) != key || sort->rows_out[i] != row)
            fail_msg("u%u bits %u-%u n %llu shape %d rows %d: place %llu is wrong", one->key_bits,
                     one->first_bit, one->end_bit, (unsigned long long)n, (int)one->kind, one->with_rows,
                     (unsigned long long)i);
    }
    for (uint64_t i = n; i < end; ++i)
        if (get(sort->keys_out, one->key_bits, i) != get(&(uint64_t){0x7777777777777777}, one->key_bits, 0) ||
            sort->rows_out[i] != 0x77777777)
            fail_msg("wrote past the end");
    free(expected);
}

static void check(kr_device *device, const trial *one)
{
    const uint64_t room = one->n + one->skew + GUARD;
    const size_t nbytes = one->key_bits / 8;
    char *keys_in = malloc(room * nbytes), *keys_out = malloc(room * nbytes);
    uint32_t *rows_in = malloc(room * 4), *rows_out = malloc(room * 4);
    assert_true(keys_in && keys_out && rows_in && rows_out);
    memset(keys_out, 0x77, room * nbytes);
    memset(rows_out, 0x77, room * 4);
    const kr_sort sort = {.key_bits = one->key_bits,
                          .first_bit = one->first_bit,
                          .end_bit = one->end_bit,
                          .n = one->n,
                          .keys_in = keys_in + one->skew * nbytes,
                          .keys_out = keys_out + one->skew * nbytes,
                          .rows_in = one->with_rows ? rows_in + one->skew : NULL,
                          .rows_out = rows_out + one->skew};
    for (uint64_t i = 0; i < one->n; ++i) {
        put(keys_in + one->skew * nbytes, one->key_bits, i, make_key(one->kind, i, one->n));
        rows_in[one->skew + i] = (uint32_t)some_bits(i + 77);
    }
    assert_int_equal(sort_on(device, &sort, NULL, NULL), KR_OK);
    expect_sorted(one, &sort, one->n + GUARD);
    free(keys_in);
    free(keys_out);
    free(rows_in);
    free(rows_out);
}

static kr_device *open_threads(uint32_t threads)
{
    const kr_device_options options = {.struct_size = sizeof options, .threads = threads};
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    return device;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void sorts_every_shape(void **state)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 31, 255, 1000, 65536, 65537, 100003, 600001};
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        kr_device *device = open_threads(threads);
        for (uint32_t bits = 32; bits <= 64; bits += 32)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
                for (int kind = 0; kind < SHAPES; ++kind) {
                    if (sizes[i] > 200000 && threads == 1 && kind > DENSE)
                        continue;
                    const trial one = {bits, 0, bits, sizes[i], (shape)kind, kind % 2, (uint32_t)kind % 3};
                    check(device, &one);
                }
        kr_device_close(device);
    }
}

static void sorts_ranges_of_bits(void **state)
{
    static const uint32_t ranges[][2] = {{0, 0},  {0, 1},   {5, 5},   {31, 32}, {3, 11},  {8, 32},
                                         {0, 31}, {32, 64}, {63, 64}, {20, 44}, {64, 64}, {1, 64}};
    static const uint64_t sizes[] = {5, 3000, 70001, 200000};
    kr_device *device = open_threads(2);
    (void)state;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; ++r)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
            for (uint32_t bits = 32; bits <= 64; bits += 32)
                if (ranges[r][1] <= bits) {
                    const trial one = {bits, ranges[r][0], ranges[r][1], sizes[i], UNIFORM, 1, 0};
                    check(device, &one);
                }
    kr_device_close(device);
}

/* Large enough for writes around the cache, aligned and not. */
static void sorts_large_columns(void **state)
{
    kr_device *device = open_threads(2);
    (void)state;
    for (int kind = UNIFORM; kind <= SKEWED; kind += SKEWED - UNIFORM) {
        const trial narrow = {32, 0, 32, 5000011, (shape)kind, 0, 0};
        const trial wide = {64, 0, 64, 1300001, (shape)kind, 1, 1};
        check(device, &narrow);
        check(device, &wide);
    }
    kr_device_close(device);
}

static void refuses_what_it_cannot_sort(void **state)
{
    kr_device *device = open_threads(1);
    uint32_t keys[4] = {2, 1}, rows[2] = {8, 9};
    kr_sort sort = {32, 0, 33, 2, keys, keys + 2, NULL, rows};
    (void)state;
    assert_int_equal(sort_on(device, &sort, NULL, NULL), KR_ERR_INTERNAL);
    sort.end_bit = 32;
    assert_int_equal(device->ops->sort_pairs(device, &sort, keys, 1, NULL, NULL), KR_ERR_INTERNAL);
    assert_true(rows[0] == 8 && rows[1] == 9);
    kr_device_close(device);
}

typedef struct asked {
    uint32_t calls, stop_at;
    double last;
} asked;

static int count_call(void *ctx, const char *phase, double fraction)
{
    asked *asks = ctx;
    assert_string_equal(phase, "sort");
    assert_true(fraction >= asks->last && fraction <= 1);
    asks->last = fraction;
    return ++asks->calls == asks->stop_at;
}

static void reports_and_stops(void **state)
{
    asked asks = {0};
    const kr_device_options options = {.struct_size = sizeof options, .progress = {count_call, &asks}};
    const uint64_t n = 5000000;
    uint32_t *keys = malloc(3 * n * sizeof *keys);
    const kr_sort sort = {32, 0, 32, n, keys, keys + n, NULL, keys + 2 * n};
    kr_device *device;
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err;
    (void)state;
    assert_non_null(keys);
    for (uint64_t i = 0; i < n; ++i)
        keys[i] = (uint32_t)make_key(SKEWED, i, n);
    assert_int_equal(kr_device_open("cpu", &options, &device, &err), KR_OK);
    assert_int_equal(sort_on(device, &sort, NULL, &err), KR_OK);
    assert_true(asks.calls > 2 && asks.last == 1);
    const uint32_t calls = asks.calls;
    for (uint32_t stop = 1; stop <= calls; ++stop) {
        asks = (asked){.stop_at = stop};
        assert_int_equal(sort_on(device, &sort, NULL, &err), KR_ERR_CANCELLED);
        assert_int_equal(asks.calls, stop);
    }
    assert_int_equal(kr_device_query(device, &info, &err), KR_OK);
    assert_int_equal(info.in_use_nbytes, 0);
    kr_device_close(device);
    free(keys);
}

enum { MEMBERS = 3, MEMBER_PAIRS = 300000 };

typedef struct member {
    kr_device *device;
    uint64_t wrong;
} member;

static void *sort_some(void *argument)
{
    member *own = argument;
    const uint64_t n = MEMBER_PAIRS;
    uint64_t *keys = malloc(2 * n * sizeof *keys);
    uint32_t *rows = malloc(n * sizeof *rows);
    const kr_sort sort = {64, 0, 64, n, keys, keys + n, NULL, rows};
    for (uint64_t i = 0; keys && i < n; ++i)
        keys[i] = some_bits(i) % 1000;
    own->wrong = !keys || !rows || sort_on(own->device, &sort, NULL, NULL);
    for (uint64_t i = 1; !own->wrong && i < n; ++i) {
        const uint64_t *sorted = sort.keys_out;
        own->wrong = sorted[i] != keys[rows[i]] || sorted[i - 1] > sorted[i] ||
                     (sorted[i - 1] == sorted[i] && rows[i - 1] >= rows[i]);
    }
    free(keys);
    free(rows);
    return NULL;
}

static void threads_sort_at_the_same_time(void **state)
{
    kr_device *device = open_threads(2);
    pthread_t threads[MEMBERS];
    member members[MEMBERS];
    (void)state;
    for (int i = 0; i < MEMBERS; ++i) {
        members[i] = (member){device, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, sort_some, &members[i]), 0);
    }
    for (int i = 0; i < MEMBERS; ++i) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(members[i].wrong, 0);
    }
    kr_device_close(device);
}

/* Scratch memory for the most pairs suffices for each smaller number, also of few bits, of which many pairs
 * are moved once and fewer twice. Memory that nothing is written to costs nothing. */
static void sorts_fewer_than_there_is_room_for(void **state)
{
    enum { N = 300000, BITS = 12 };
    (void)state;
    kr_device *device = open_threads(2);
    uint32_t *keys = calloc(N, sizeof *keys), *sorted = calloc(N, sizeof *sorted),
             *rows = calloc(N, sizeof *rows);
    assert_true(keys && sorted && rows);
    for (uint32_t bits = 1; bits <= BITS; ++bits)
        for (uint32_t log2 = 19; log2 <= 27; ++log2) {
            kr_error err = {0};
            kr_work work = kr_work_on(device, NULL, &err);
            for (uint32_t i = 0; i < N; ++i)
                keys[i] = (uint32_t)some_bits(i) & ((1u << bits) - 1);
            const kr_sort sort = {.key_bits = 32,
                                  .end_bit = bits,
                                  .n = N,
                                  .keys_in = keys,
                                  .keys_out = sorted,
                                  .rows_out = rows};
            kr_work_sort_some(&work, &sort, (uint64_t)1 << log2);
            if (kr_work_end(&work) != KR_OK)
                fail_msg("%u bits, room for 2^%u: %s", bits, log2, err.text);
            for (uint32_t i = 1; i < N; ++i)
                assert_true(sorted[i - 1] <= sorted[i]);
        }
    free(keys);
    free(sorted);
    free(rows);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_fewer_than_there_is_room_for),
        cmocka_unit_test(sorts_every_shape),
        cmocka_unit_test(sorts_ranges_of_bits),
        cmocka_unit_test(sorts_large_columns),
        cmocka_unit_test(refuses_what_it_cannot_sort),
        cmocka_unit_test(reports_and_stops),
        cmocka_unit_test(threads_sort_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
