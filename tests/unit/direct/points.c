/* Points of partitioned batches of kind `dense` from parts in shared memory: which parts are copied, for
 * every number of parts, with much of it and with little; and answers, beside a search among sorted keys. */
#define KR_KEY_BITS 64
#include "base/devices/device.h"
#include "index/families/direct/direct_build.h"
#include "index/kinds/index.h"
#include "index/partition/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ROWS = 6000, PROBES = 12000, SEGMENT = 1000 };

static uint64_t next_random(void)
{
    static uint64_t state = 42;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ state >> 29;
}

typedef struct entry {
    uint64_t key;
    uint32_t row, reserved;
} entry;

static entry entries[ROWS]; /* in order */
static uint64_t keys[ROWS], probes[PROBES];
static uint32_t rows[ROWS];
static uint8_t validity[PROBES / 8];

enum { DISTINCT, REPEATED, ASCENDING, PATTERNS };

/* One value in about four, each `step` above the next that may be. */
static void fill(int pattern, uint64_t lowest, uint64_t step)
{
    uint64_t value = lowest;
    for (uint32_t i = 0; i < ROWS; ++i) {
        entries[i] = (entry){value, pattern == ASCENDING ? i : (i * 7919u + 5) % ROWS, 0};
        if (pattern != REPEATED || i % 3 == 2)
            value += step * (1 + next_random() % 7);
    }
    for (uint32_t i = 0; i < ROWS; ++i) {
        keys[pattern == ASCENDING ? i : entries[i].row] = entries[i].key;
        rows[i] = i;
    }
    for (uint32_t i = 0; i < PROBES; ++i) {
        const uint64_t key = entries[next_random() % ROWS].key, way = next_random() % 8;
        probes[i] = way == 0   ? next_random()
                    : way == 1 ? key + step
                    : way == 2 ? key - 1
                    : way == 3 ? lowest - step * (1 + next_random() % 300)
                    : way == 4 ? entries[ROWS - 1].key + step * (1 + next_random() % 300)
                    : way == 5 ? entries[ROWS / 2].key
                               : key;
    }
    for (uint32_t i = 0; i < PROBES / 8; ++i)
        validity[i] = (uint8_t)(next_random() | next_random() >> 20);
}

/* What probe i finds: the first position, how many rows, and the lowest row id. */
static kr_match found(uint32_t i, int has_nulls, uint32_t *row)
{
    uint32_t low = 0, high = ROWS, end;
    *row = KR_NO_ROW;
    if (has_nulls && !(validity[i / 8] >> i % 8 & 1))
        return (kr_match){0, 0};
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (entries[middle].key < probes[i])
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < ROWS && entries[end].key == probes[i]; ++end)
        *row = entries[end].row < *row ? entries[end].row : *row;
    return (kr_match){low, end - low};
}

static void check_answers(const void *answers, uint32_t what, int has_nulls)
{
    for (uint32_t i = 0; i < PROBES; ++i) {
        uint32_t row;
        const kr_match want = found(i, has_nulls, &row);
        if (what == KR_PUT_ROW)
            assert_int_equal(((const uint32_t *)answers)[i], row);
        else if (what == KR_PUT_FLAG)
            assert_int_equal(((const uint8_t *)answers)[i], want.count > 0);
        else if (what == KR_PUT_COUNT)
            assert_int_equal(((const uint64_t *)answers)[i], want.count);
        else {
            const kr_match got = ((const kr_match *)answers)[i];
            assert_int_equal(got.count, want.count);
            assert_true(!want.count || got.where == want.where);
        }
    }
}

/* 1: parts were copied, and the answers are right. */
static int answers_from_copies(const kr_index *index, uint32_t bits, uint32_t what, int has_nulls)
{
    static uint64_t answers[PROBES], out[PROBES];
    const direct_view *view = &((const direct_index *)index->self)->view;
    const kr_partition_job job = {.even = kr_batch_even(view->span, bits),
                                  .lowest = view->lowest,
                                  .step = 1,
                                  .n = PROBES,
                                  .bits = bits,
                                  .segment = SEGMENT};
    kr_batch batch = {.lower = probes, .lower_type = KR_U64, .lower_validity = has_nulls ? validity : NULL};
    kr_error err = {0};
    kr_work w = kr_work_on(index->device, NULL, &err);
    const kr_partition made = kr_partition_make_u64(&w, &job, &batch);
    const kr_locate locate = {
        .batch = batch, .put = {.out = answers, .what = what}, .n = PROBES, .partition = &made.view};
    const int copied = direct_points_locate_u64(&w, view, &locate);
    if (copied) {
        kr_partition_back(&w, &made, answers, kr_put_nbytes(what), out);
        check_answers(out, what, has_nulls);
    }
    assert_int_equal(kr_work_end(&w), KR_OK);
    return copied;
}

static kr_index *build(kr_device *device)
{
    const kr_column column = {.type = KR_U64, .count = ROWS, .data = keys};
    kr_index *index = NULL;
    assert_int_equal(kr_index_create(device, "dense:spread=64", &column, rows, NULL, &index, NULL), KR_OK);
    return index;
}

static kr_device *open_device(void)
{
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    return device;
}

/* One of two parts has more than 1000 bytes of bits, one of 2^11 has 3 blocks or fewer. */
static void check_sizes(const kr_index *index, uint32_t bits, int has_nulls)
{
    static const uint32_t nbytes[] = {72 * 1024, 20000, 9000, 6000};
    for (size_t b = 0; b < LENGTH(nbytes); ++b)
        for (uint32_t what = KR_PUT_ROW; what <= KR_PUT_MATCH; ++what) {
            index->device->block_nbytes = nbytes[b];
            const int copied = answers_from_copies(index, bits, what, (has_nulls + (int)what) % 2);
            assert_true(copied || (bits < KR_PART_BITS_MOST && nbytes[b] < 72 * 1024));
            assert_true(!copied || bits > 1 || nbytes[b] > 6000);
        }
}

/* Of most steps, parts begin between values. */
static void copies_what_fits(void **state)
{
    static const uint64_t steps[] = {1, 7, (uint64_t)1 << 32, UINT64_C(86400000000)};
    (void)state;
    for (size_t s = 0; s < LENGTH(steps); ++s) {
        kr_device *device = open_device();
        fill((int)s % PATTERNS, s == 0 ? UINT64_MAX - 8 * ROWS : UINT64_C(123456789123456), steps[s]);
        kr_index *index = build(device);
        for (uint32_t bits = 1; bits <= KR_PART_BITS_MOST; bits += 2)
            check_sizes(index, bits, (int)(bits / 2 + s) % 2);
        kr_index_destroy(index);
        kr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
