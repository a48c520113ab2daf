/* Ranges added up key by key by the threads of a warp, as on a GPU: the bodies of `array` and `eytzinger`,
 * unchanged, with 32 threads of the CPU in place of the warp's. */
#define KR_KEY_BITS 32
#undef KR_WITH_CUDA

#include "base/program/program.h"

#include <pthread.h>
#include <string.h>

enum { WARP = 32, N_BARRIERS = 64 };

static _Thread_local uint32_t lane;
static pthread_barrier_t barriers[N_BARRIERS]; /* of the groups of each size */
static uint64_t held[WARP];

static void meet(kr_group group)
{
    pthread_barrier_wait(&barriers[WARP / group.size + lane / group.size]);
}

static uint64_t word_of(kr_group group, uint64_t x, uint32_t rank)
{
    held[lane] = x;
    meet(group);
    const uint64_t other = held[lane / group.size * group.size + rank];
    meet(group);
    return other;
}

static uint32_t emulated_ballot(kr_group group, int condition)
{
    uint32_t bits = 0;
    held[lane] = condition != 0;
    meet(group);
    for (uint32_t rank = 0; rank < group.size; ++rank)
        bits |= (uint32_t)held[lane / group.size * group.size + rank] << rank;
    meet(group);
    return bits;
}

static uint64_t emulated_other(kr_group group, uint64_t x, uint32_t distance)
{
    return word_of(group, x, group.rank ^ distance);
}

#define kr_group_ballot emulated_ballot
#define kr_group_share word_of
#define kr_group_other emulated_other
#include "index/kinds/lookup_program.h"
#undef KR_LOOKUP_PROGRAM_
#undef KR_GROUP_PROGRAM_
#define KR_LOOKUP_PROGRAM_(...) kr_assert_size(uint32_t, 4)
#define KR_GROUP_PROGRAM_(...) kr_assert_size(uint32_t, 4)
#include "index/families/array/array_width_body.h"
#include "index/families/eytzinger/eytzinger_sum_simd_width_body.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 1500, PROBES = 40 }; /* the second warp is not full */

typedef struct scan_case {
    array_sum_params array;
    eytzinger_sum_params tree;
    int is_tree;
} scan_case;

static scan_case the_case;

static void *run_lane(void *arg)
{
    lane = (uint32_t)(uintptr_t)arg;
    const kr_group warp = {lane, WARP};
    for (uint64_t i = lane; i < 2 * WARP; i += WARP)
        if (the_case.is_tree)
            eytzinger_sum_any_one(warp, &the_case.tree, i, PROBES);
        else
            array_sum_one(warp, &the_case.array, i, PROBES);
    return NULL;
}

static void run_warp(void)
{
    pthread_t threads[WARP];
    for (uint32_t size = 1; size <= WARP; size *= 2)
        for (uint32_t g = 0; g < WARP / size; ++g)
            pthread_barrier_init(&barriers[WARP / size + g], NULL, size);
    for (uintptr_t t = 0; t < WARP; ++t)
        assert_int_equal(pthread_create(&threads[t], NULL, run_lane, (void *)t), 0);
    for (uint32_t t = 0; t < WARP; ++t)
        pthread_join(threads[t], NULL);
    for (uint32_t b = 1; b < N_BARRIERS; ++b)
        pthread_barrier_destroy(&barriers[b]);
}

/* Keys 3, 3, 6, 6, 9, ...: rank r has row id 7 r + 1. Ranges of no, few, 32 and many entries, empty ones, and
 * one of all. */
static void check(uint32_t n, uint32_t k, uint32_t group, int is_tree, uint32_t alone)
{
    static uint32_t keys[MOST + 1], rows[MOST + 1], lower[PROBES], upper[PROBES];
    uint64_t sums[PROBES + 1];
    memset(sums, 0xAB, sizeof sums);
    const kr_entries entries = kr_entries_of(KR_LAYOUT_SOA, sizeof *keys, keys, rows, n);
    const eytzinger_tree tree = eytzinger_tree_of(k, n);
    for (uint32_t rank = 0; rank < n; ++rank) {
        const uint64_t slot = is_tree ? eytzinger_slot_of_rank(&tree, rank) : rank;
        keys[slot] = (rank / 2 + 1) * 3;
        rows[slot] = 7 * rank + 1;
    }
    for (uint32_t i = 0; i < PROBES; ++i) {
        lower[i] = i == 7 ? 0 : i * 37 % (n * 3 / 2 + 4);
        upper[i] = i == 7 ? 0xFFFFFFFFu : i % 5 == 0 ? lower[i] - 1 : lower[i] + i * i * i % 700;
    }
    const kr_batch batch = {.lower = lower, .upper = upper, .lower_type = KR_U32, .upper_type = KR_U32};
    const reduce_params how = {.op = KR_REDUCE_SUM_ROWS, .out = sums, .alone = alone};
    the_case = (scan_case){
        .array = {{.batch = batch,
                   .put = {.what = KR_PUT_ROW},
                   .launch = {.group = group},
                   .entries = entries,
                   .top = 0x80000000u >> kr_clz32(n),
                   .k = k},
                  how},
        .tree = {{.batch = batch, .launch = {.group = group}, .entries = entries, .tree = tree}, how},
        .is_tree = is_tree,
    };
    run_warp();
    for (uint32_t i = 0; i < PROBES; ++i) {
        uint64_t want = 0;
        for (uint32_t rank = 0; rank < n; ++rank)
            if ((rank / 2 + 1) * 3 >= lower[i] && (rank / 2 + 1) * 3 <= upper[i])
                want += 7 * rank + 1;
        if (sums[i] != want)
            fail_msg("%u entries, k %u, group %u, %s: probe %u (%u to %u) is %llu, not %llu", n, k, group,
                     is_tree ? "tree" : "array", i, lower[i], upper[i], (unsigned long long)sums[i],
                     (unsigned long long)want);
    }
    assert_int_equal(sums[PROBES], 0xABABABABABABABABu);
}

static void warps_add_up_what_one_thread_does(void **state)
{
    static const uint32_t counts[] = {1, 31, 32, 33, 97, 700, MOST};
    (void)state;
    for (uint32_t c = 0; c < sizeof counts / sizeof *counts; ++c)
        for (int is_tree = 0; is_tree <= 1; ++is_tree) {
            check(counts[c], 2, 1, is_tree, REDUCE_ALONE);
            check(counts[c], 2, 1, is_tree, REDUCE_ALL_ALONE);
            check(counts[c], 9, 1, is_tree, REDUCE_ALONE);
            for (uint32_t group = 2; group <= WARP; group *= 4)
                check(counts[c], group + 1, group, is_tree, REDUCE_ALONE);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(warps_add_up_what_one_thread_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
