/* Updates that build the index anew, cancelled within each program: the index is as it was, and the next call
 * does all of it. On the CPU; without Embree the test is skipped. */
#include "cancelling_device.h"
#include "random.h"

#include <keyray/keyray.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FIRST = 2000, MOST = 30000, RANGE = 1 << 16 };

static kr_device *device;
static kr_error err;
static uint64_t counts[RANGE], found[RANGE];
static uint32_t probes[RANGE];

/* How many rows each key has, as the index says. */
static void check(kr_index *index, uint64_t n)
{
    const kr_column column = {.type = KR_U32, .count = RANGE, .data = probes};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = found};
    kr_index_info info = {.struct_size = sizeof info};
    if (kr_index_validate(index, &err) != KR_OK ||
        kr_index_lookup(index, &column, &sink, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(found, counts, sizeof counts);
    assert_int_equal(kr_index_query(index, &info, NULL), KR_OK);
    assert_int_equal(info.rows, n);
}

/* 1: the update had a phase "rebuild". */
static int was_rebuilt(const kr_index *index)
{
    for (uint32_t i = 0; i < kr_index_phase_count(index); ++i)
        if (!strcmp(kr_index_phase_name(index, i), "rebuild"))
            return 1;
    return 0;
}

static uint64_t count_all(const uint32_t *keys, uint64_t n, uint64_t step)
{
    for (uint64_t i = 0; i < n; ++i)
        counts[keys[i]] += step;
    return n;
}

/* Cancels the n-th program, for every n, until the update is done. */
static void update(kr_index *index, const kr_column *gone, const kr_column *come, uint64_t before,
                   uint64_t after)
{
    static uint64_t later[RANGE], earlier[RANGE];
    const uint32_t *deletes = gone->data, *inserts = come->data;
    kr_status status;
    uint32_t n = 0;
    memcpy(earlier, counts, sizeof counts);
    for (uint64_t i = 0; i < gone->count; ++i)
        counts[deletes[i]] = 0;
    count_all(inserts, come->count, 1);
    memcpy(later, counts, sizeof counts);
    do {
        cancel_at = ++n;
        status = kr_index_update(index, come, NULL, gone, NULL, &err);
        const int struck = cancel_at == 0;
        cancel_at = 0;
        assert_int_equal(status, struck ? KR_ERR_CANCELLED : KR_OK);
        memcpy(counts, struck ? earlier : later, sizeof counts);
        check(index, struck ? before : after);
    } while (status);
    if (n <= 8)
        fail_msg("%u programs", n);
    assert_true(was_rebuilt(index));
}

static void grow_and_shrink(const char *spec)
{
    static uint32_t keys[MOST], others[MOST];
    const kr_column first = {.type = KR_U32, .count = FIRST, .data = keys},
                    more = {.type = KR_U32, .count = MOST - FIRST, .data = keys + FIRST},
                    none = {.type = KR_U32, .data = keys};
    kr_rng rng = {7};
    kr_index *index = NULL;
    uint64_t left = 0, n_gone = 0;
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < MOST; ++i)
        keys[i] = (uint32_t)kr_rng_below(&rng, RANGE);
    count_all(keys, FIRST, 1);
    assert_int_equal(kr_index_create(device, spec, &first, NULL, NULL, &index, &err), KR_OK);
    check(index, FIRST);
    update(index, &none, &more, FIRST, MOST);
    for (uint32_t key = 0; key < RANGE; ++key)
        if (counts[key] && key % 16)
            others[n_gone++] = key;
        else
            left += counts[key];
    const kr_column gone = {.type = KR_U32, .count = n_gone, .data = others};
    update(index, &gone, &none, MOST, left);
    kr_index_destroy(index);
}

static void cancelled_rebuilds_change_nothing(void **state)
{
    kr_index *index = NULL;
    kr_device_ops half;
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    const kr_column one = {.type = KR_U32, .count = 1, .data = probes};
    if (kr_index_create(device, "cgrx", &one, NULL, NULL, &index, &err) == KR_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err.text);
        kr_device_close(device);
        skip();
    }
    kr_index_destroy(index);
    for (uint32_t i = 0; i < RANGE; ++i)
        probes[i] = i;
    cancel_programs(device, &half);
    grow_and_shrink("cgrx:updates=on");
    grow_and_shrink("cgrx:updates=on,layout=aos,filter=8,node=4,rebuild=2,parts=3");
    device->ops = real_ops;
    kr_device_info info = {.struct_size = sizeof info};
    assert_int_equal(kr_device_query(device, &info, NULL), KR_OK);
    assert_int_equal(info.in_use_nbytes, 0);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cancelled_rebuilds_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
