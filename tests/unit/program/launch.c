/* Lookup programs on the CPU, and the arithmetic of launches. The toy program counts down from each key. */
#define KR_KEY_BITS 32
#undef KR_WITH_CUDA /* the toy has no kernel */

#include "index/kinds/lookup_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct toy_params {
    kr_batch batch;
    kr_put put;
    kr_launch launch;
} toy_params;

typedef struct toy_state {
    kr_key lower, upper;
    uint32_t left, steps, bad;
} toy_state;

KR_BODY kr_key toy_pinned(const toy_params *p, uint32_t j)
{
    (void)p;
    return j;
}

KR_BODY int toy_begin(const toy_params *p, uint64_t i, kr_key lower, toy_state *s)
{
    *s = (toy_state){.lower = lower};
    const int any = kr_batch_load_upper(&p->batch, i, &lower, &s->upper);
    s->left = s->lower;
    return any && s->left;
}

/* Nothing is pinned here, however many words the launch names. */
KR_BODY int toy_step(const toy_params *p, kr_pin pin, kr_group group, toy_state *s)
{
    (void)p, (void)group;
    s->bad |= pin.n != 0;
    ++s->steps;
    return --s->left != 0;
}

KR_BODY int toy_group_step(const toy_params *p, kr_pin pin, kr_group group, toy_state *s)
{
    s->bad |= group.size != 1 || group.rank != 0 || kr_group_ballot(group, 1) != 1;
    return toy_step(p, pin, group, s);
}

KR_BODY void toy_end(const toy_params *p, const kr_put *put, uint64_t i, const toy_state *s)
{
    (void)p;
    kr_put_first(put, i, !s->bad, s->steps);
}

KR_LOOKUP_PROGRAM(toy, toy_params, toy_state, toy_pinned, toy_begin, toy_step, toy_end, 1u);
KR_LOOKUP_PROGRAM(toy_groups, toy_params, toy_state, toy_pinned, toy_begin, toy_group_step, toy_end, 4u);

enum { N = 1000 };

static void check_program(const kr_program *program, const uint8_t *validity)
{
    uint32_t keys[N], out[N];
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = i * i % 37;
    memset(out, 0xAB, sizeof out);
    const toy_params params = {
        .batch = {.lower = keys, .lower_type = KR_U32, .upper_type = KR_U32, .lower_validity = validity},
        .put = {.out = out, .what = KR_PUT_ROW},
        .launch = {.threads = 64, .n_pins = 7, .reorder = KR_REORDER_DOUBLE, .group = 4},
    };
    assert_int_equal(program->params_nbytes, sizeof params);
    program->cpu(&params, 64, N, N);
    for (uint32_t i = 0; i < N; ++i) {
        const uint32_t steps = validity && !kr_code_is_valid(validity, 0, i) ? 0 : keys[i];
        assert_int_equal(out[i], i < 64 ? 0xABABABABu : steps);
    }
}

static void runs_as_probes(void **state)
{
    uint8_t validity[N / 8];
    (void)state;
    for (uint32_t i = 0; i < sizeof validity; ++i)
        validity[i] = (uint8_t)(i * 31);
    check_program(&KR_W(toy), NULL);
    check_program(&KR_W(toy), validity);
    check_program(&KR_W(toy_groups), NULL);
    check_program(&KR_W(toy_groups), validity);
}

static void sizes_launches(void **state)
{
    const kr_launch none = {0};
    (void)state;
    assert_int_equal(kr_launch_probes(&none), KR_LAUNCH_THREADS);
    assert_int_equal(kr_launch_order_nbytes(&none, 8), 0);
    for (uint32_t threads = 32; threads <= 1024; threads += 32)
        for (uint32_t per_thread = 1; per_thread <= 32; ++per_thread)
            for (uint32_t group = 1; group <= 32; group *= 2) {
                const kr_launch launch = {.threads = threads,
                                          .per_thread = per_thread,
                                          .group = group,
                                          .reorder = KR_REORDER_LOOKUP};
                const uint32_t probes = kr_launch_probes(&launch), bits = kr_launch_bucket_bits(&launch);
                assert_int_equal(probes, threads / group * per_thread);
                assert_true(1u << bits >= probes && (bits == 5 || 1u << (bits - 1) < probes));
                if (probes > KR_LAUNCH_ORDER_PROBES)
                    continue;
                /* Room for places, and behind them for results of 8 bytes. */
                assert_true(kr_launch_order_nbytes(&launch, 4) >= 10 * probes);
                assert_true(kr_launch_order_nbytes(&launch, 8) <= KR_LAUNCH_SHARED);
                assert_true(bits <= 13);
            }
}

/* Each thread holds a power of two of the keys, all threads together hold the tile, and what lies in shared
 * memory fits: keys, places of all that is sorted, and counters or results. */
static void sizes_sorts(void **state)
{
    uint32_t fitting = 0;
    (void)state;
    for (uint32_t threads = 32; threads <= 1024; threads += 32)
        for (uint32_t per_thread = 1; per_thread <= 32; ++per_thread)
            for (uint32_t group = 1; group <= 32; group *= 2)
                for (uint32_t key_nbytes = 4; key_nbytes <= 8; key_nbytes += 4) {
                    kr_launch launch = {.threads = threads,
                                        .per_thread = per_thread,
                                        .group = group,
                                        .reorder = KR_REORDER_SORT};
                    const uint32_t probes = kr_launch_probes(&launch), each = kr_launch_sort_each(&launch);
                    const uint32_t held = each * threads, kept = probes * key_nbytes + 2 * held;
                    assert_true(held >= probes && (each & (each - 1)) == 0);
                    assert_true(each == 1 || held / 2 < probes);
                    assert_int_equal(kr_launch_can_order(&launch), each <= 16 && held <= 4096);
                    if (!kr_launch_can_order(&launch))
                        continue;
                    ++fitting;
                    assert_true(kr_launch_order_nbytes(&launch, key_nbytes) >= kept + 32 * threads);
                    launch.reorder = KR_REORDER_SORT_DOUBLE;
                    assert_true(kr_launch_order_nbytes(&launch, key_nbytes) >= kept + 8 * probes);
                    assert_true(kr_launch_order_nbytes(&launch, key_nbytes) >= kept + 32 * threads);
                    assert_true(kr_launch_order_nbytes(&launch, key_nbytes) <= KR_LAUNCH_SHARED);
                }
    assert_true(fitting > 100);
}

/* In shared memory before they are written. */
static void knows_bytes_of_answers(void **state)
{
    (void)state;
    assert_int_equal(kr_put_nbytes(KR_PUT_ROW), sizeof(uint32_t));
    assert_int_equal(kr_put_nbytes(KR_PUT_FLAG), sizeof(uint8_t));
    assert_int_equal(kr_put_nbytes(KR_PUT_COUNT), sizeof(uint64_t));
    assert_int_equal(kr_put_nbytes(KR_PUT_MATCH), sizeof(kr_match));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_as_probes),
        cmocka_unit_test(sizes_launches),
        cmocka_unit_test(sizes_sorts),
        cmocka_unit_test(knows_bytes_of_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
