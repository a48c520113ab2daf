/* What `best` stands for where it looks at the column: a registry of the test's own has a kind `dense`, which
 * is `array` under another name, so that the rules for it apply. */
#include "index/kinds/choose.h"
#include "index/kinds/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const kr_kind kr_kind_array, kr_kind_pivot, kr_kind_hash;
static kr_kind dense;
static int has_dense = 1;

const kr_kind *kr_kind_at(uint32_t ordinal)
{
    const kr_kind *const kinds[] = {&kr_kind_array, &kr_kind_pivot, &kr_kind_hash, has_dense ? &dense : NULL,
                                    NULL};
    dense = kr_kind_array;
    dense.name = "dense";
    return ordinal < 4 ? kinds[ordinal] : NULL;
}

const char *kr_kind_left_out_at(uint32_t ordinal)
{
    (void)ordinal;
    return NULL;
}

static kr_device *device;
enum { N = 5000 };
static _Alignas(8) uint32_t keys[N];

static kr_column column_of(kr_type type, uint64_t n)
{
    return (kr_column){.type = type, .count = n, .data = keys};
}

/* Keys in no order, multiples of a step, the first 0 and the last `gap` * N steps. */
static void spread_steps(uint32_t gap, uint32_t step)
{
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = (uint32_t)((uint64_t)i * 1873 % N) * gap * step; /* N and 1873 have no factor in common */
    keys[0] = 0;
    keys[1] = gap * N * step;
}

/* highest - lowest is gap * n, and no step is larger than 1. */
static void spread(uint32_t gap)
{
    spread_steps(gap, 1);
    keys[2] = 1;
}

static const char *kind_made(const char *text, const kr_column *column)
{
    static kr_index_info info;
    kr_index *index = NULL;
    kr_error err = {0};
    info = (kr_index_info){.struct_size = sizeof info};
    if (kr_index_create(device, text, column, NULL, NULL, &index, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kr_index_query(index, &info, NULL), KR_OK);
    assert_int_equal(kr_index_validate(index, NULL), KR_OK);
    kr_index_destroy(index);
    info.spec[strcspn(info.spec, ":")] = '\0';
    return info.spec;
}

static kr_explanation explain(const char *text, const kr_column *column)
{
    kr_explanation made = {.struct_size = sizeof made};
    kr_error err = {0};
    if (kr_index_explain(device, KR_OP_POINT, text, column, 100, &made, &err) != KR_OK)
        fail_msg("%s", err.text);
    return made;
}

/* Explained and built. */
static void expect(const char *text, const kr_column *column, const char *kind)
{
    const kr_explanation told = explain(text, column);
    assert_string_equal(kind_made(text, column), kind);
    assert_memory_equal(told.spec, kind, strlen(kind));
    assert_int_equal(told.spec[strlen(kind)], ':');
}

static void takes_dense_up_to_a_spread(void **state)
{
    (void)state;
    const kr_column column = column_of(KR_U32, N);
    spread(15);
    expect("best", &column, "dense");
    expect("best:updates=on", &column, "pivot");
    spread(3);
    expect("best:ranges=off", &column, "dense");
    expect("best:updates=on,ranges=off", &column, "hash");
    spread(16);
    expect("best", &column, "pivot");
    expect("array", &column, "array");
}

/* What counts is how many steps away the next key is: a few neighbours give it, or all keys do. */
static void finds_steps(void **state)
{
    static const struct {
        uint32_t odd;
        const char *kind, *text;
    } cases[] = {{1, "pivot", "1 in 1.5e+04 values"},
                 {30, "pivot", "1 in 1.5e+04 values"}, /* too many steps for any rule */
                 {1000 * 15 + 10, "pivot", "1 in 1.5e+04 values"},
                 {7500, "dense", "1 in 2 steps of 7500"},
                 {3 * 7500, "dense", "1 in 2 steps of 7500"},
                 {10000, "dense", "1 in 3 steps of 5000"},
                 {15000, "dense", "1 in 1 steps of 15000"}};
    (void)state;
    const kr_column column = column_of(KR_U32, N), times = column_of(KR_TIMESTAMP64, N / 2),
                    few = column_of(KR_U32, 1023);
    spread_steps(15, 1000);
    expect("best", &column, "dense");
    expect("best", &few, "pivot");
    assert_non_null(
        strstr(explain("best", &column).reason, "; 5000 keys from 0 to 75000000, 1 in 1 steps of 15000"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        spread_steps(15, 1000);
        keys[N - 1] = keys[2] = cases[i].odd;
        expect("best", &column, cases[i].kind);
        assert_non_null(strstr(explain("best", &column).reason, cases[i].text));
    }
    for (uint64_t i = 0; i < N / 2; ++i)
        ((int64_t *)(void *)keys)[i] = (int64_t)(i * 1873 % (N / 2)) * 86400000000 - 86400000000 * 700;
    expect("best", &times, "dense");
    assert_non_null(strstr(explain("best", &times).reason, "1 in 1 steps of 86400000000"));
    ((int64_t *)(void *)keys)[3] += 1;
    expect("best", &times, "pivot");
    for (uint64_t i = 0; i < N / 2; ++i)
        ((int64_t *)(void *)keys)[i] = (int64_t)(i * 1873 % 10) * 86400000000;
    assert_non_null(strstr(explain("best", &times).reason, "1 in 0.004 steps of 86400000000, repeated"));
}

static void knows_types(void **state)
{
    (void)state;
    spread(2);
    static const kr_type dense_types[] = {KR_U32, KR_I32, KR_DATE32};
    for (size_t i = 0; i < sizeof dense_types / sizeof dense_types[0]; ++i) {
        const kr_column column = column_of(dense_types[i], N);
        expect("best", &column, "dense");
    }
    const kr_column floats = column_of(KR_F32, N);
    expect("best", &floats, "pivot");
    keys[7] = (uint32_t)-5; /* far away for u32, near for i32 */
    const kr_column is_signed = column_of(KR_I32, N), is_unsigned = column_of(KR_U32, N);
    expect("best", &is_signed, "dense");
    expect("best", &is_unsigned, "pivot");
    const kr_column one = column_of(KR_U32, 1), none = column_of(KR_U32, 0);
    expect("best", &one, "dense");
    expect("best", &none, "pivot");
}

/* NULLs count neither as keys nor with their values. */
static void leaves_out_nulls(void **state)
{
    static uint8_t validity[N / 8 + 1];
    (void)state;
    spread(2);
    memset(validity, 0xFF, sizeof validity);
    kr_column column = column_of(KR_U32, N);
    column.validity = validity;
    keys[9] = UINT32_MAX;
    expect("best", &column, "pivot");
    validity[1] = (uint8_t) ~(1u << 1);
    expect("best", &column, "dense");
    assert_non_null(strstr(explain("best", &column).reason, "; 4999 keys from 0 to 10000, 1 in 2 values"));
    spread_steps(1, 1000);
    keys[9] = keys[N / 2] = 7;
    expect("best", &column, "pivot");
    validity[N / 2 / 8] &= (uint8_t) ~(1u << N / 2 % 8);
    expect("best", &column, "dense");
    assert_non_null(
        strstr(explain("best", &column).reason, "; 4998 keys from 0 to 5000000, 1 in 1 steps of 1000"));
    memset(validity, 0, sizeof validity);
    expect("best", &column, "pivot");
    assert_non_null(strstr(explain("best", &column).reason, "; no keys"));
}

/* What is built follows from the keys at that time. */
static void looks_again_at_the_build(void **state)
{
    (void)state;
    const kr_column column = column_of(KR_U32, N);
    spread(2);
    assert_memory_equal(explain("best", &column).spec, "dense:", 6);
    spread(1000);
    assert_string_equal(kind_made("best", &column), "pivot");
    assert_memory_equal(explain("best", &column).spec, "pivot:", 6);
    spread(2);
    assert_string_equal(kind_made("best", &column), "dense");
}

/* Without data, with other callers' "best", and in builds without the kind: as ever. */
static void is_as_ever_without_a_look(void **state)
{
    char text[KR_SPEC_NBYTES];
    kr_spec spec;
    const char *reason = NULL;
    (void)state;
    spread(2);
    const kr_column unread = {.type = KR_U32, .count = N}, column = column_of(KR_U32, N);
    assert_memory_equal(explain("best", &unread).spec, "pivot:", 6);
    assert_null(strstr(explain("best", &unread).reason, "keys from"));
    assert_int_equal(kr_choose(device, "best", &spec, &reason, NULL), KR_OK);
    assert_string_equal(spec.kind->name, "pivot");
    assert_int_equal(kr_spec_complete("best", text, sizeof text, NULL), KR_OK);
    assert_memory_equal(text, "pivot:", 6);
    assert_non_null(strstr(text, ",k=9,"));
    has_dense = 0;
    assert_false(kr_choose_looks(device, "best"));
    expect("best", &column, "pivot");
    has_dense = 1;
    assert_true(kr_choose_looks(device, "best"));
    assert_false(kr_choose_looks(device, "pivot"));
}

/* The kind and the reason for keys like these; `on_cpu` 0: the rules of a GPU, which no keys are read on.
 * `lookups`: what the caller knows of them, 0: nothing. */
static const char *chosen_before(int on_cpu, const char *text, const kr_look *look, uint64_t lookups,
                                 const char **reason)
{
    static kr_spec spec;
    const kr_device_ops gpu_ops = {.is_host = 0}, cpu_ops = {.is_host = 1};
    const kr_device on = {.ops = on_cpu ? &cpu_ops : &gpu_ops};
    kr_error err = {0};
    if (kr_choose(&on, text, &spec, reason, &err) != KR_OK)
        fail_msg("%s", err.text);
    kr_choose_seen(&on, text, look, lookups, &spec, reason);
    return spec.kind->name;
}

static const char *chosen(int on_cpu, const char *text, const kr_look *look, const char **reason)
{
    return chosen_before(on_cpu, text, look, 0, reason);
}

enum { MANY = 1000000 };

/* Each of MANY keys is `gap` values from the next. */
static kr_look look_of(uint64_t gap, uint32_t ascends)
{
    return (kr_look){.n = MANY, .highest = (MANY - 1) * gap, .type = KR_U32, .ascends = ascends};
}

static void goes_by_what_it_is_told(void **state)
{
    enum { FAR = 1000, NEAR = 3, LESS_NEAR = 12 };
    static const struct told {
        int on_cpu;
        const char *text;
        uint32_t gap, ascends;
        const char *kind, *reason;
    } all[] = {
        {1, "best:ranges=off,lookups=1000000", FAR, 0, "pivot", "three times as long for a hash table"},
        {1, "best:ranges=off,lookups=1000001", FAR, 0, "hash", "about one cache miss"},
        {1, "best:lookups=1000001,ranges=off", FAR, 1, "pivot", "keys that ascend are not sorted"},
        {1, "best:ranges=off,lookups=2000000", FAR, 1, "pivot", "keys that ascend are not sorted"},
        {1, "best:ranges=off,lookups=2000001", FAR, 1, "hash", "about one cache miss"},
        {1, "best:ranges=off", FAR, 1, "hash", "about one cache miss"},
        {1, "best:ranges=off,lookups=500000", NEAR, 0, "pivot", "three times as long for a hash table"},
        {1, "best:ranges=off,lookups=500001", NEAR, 0, "dense", "as fast as a hash table or faster"},
        {1, "best:ranges=off,lookups=3000001", NEAR, 1, "dense", "as fast as a hash table or faster"},
        {1, "best:ranges=off", NEAR, 0, "dense", "as fast as a hash table or faster"},
        {1, "best:ranges=off", LESS_NEAR, 0, "hash", "about one cache miss"},
        {1, "best:ranges=off,lookups=600000", LESS_NEAR, 0, "pivot", "three times as long for a hash table"},
        {1, "best:ranges=off,hits=10", LESS_NEAR, 0, "dense", "few probes find one"},
        {1, "best:ranges=off,hits=0", LESS_NEAR, 0, "dense", "few probes find one"},
        {1, "best:ranges=off,hits=11", LESS_NEAR, 0, "hash", "about one cache miss"},
        {1, "best:ranges=off,hits=0", FAR, 0, "hash", "about one cache miss"},
        {1, "best:ranges=off,batch=1", LESS_NEAR, 0, "hash", "about one cache miss"},
        {1, "best:ranges=off,hits=0,updates=on", NEAR, 0, "hash", "about one cache miss"},
        {1, "best:ranges=off,lookups=5,updates=on", FAR, 0, "hash", "about one cache miss"},
        {1, "best:lookups=500000", LESS_NEAR, 0, "pivot", "takes longer for dense"},
        {1, "best:lookups=500001", LESS_NEAR, 0, "dense", "takes the place of a search"},
        {1, "best:lookups=5", FAR, 0, "pivot", "compares all pivots"},
        {1, "best:batch=1,hits=0", FAR, 0, "pivot", "compares all pivots"},
        {0, "best:lookups=5", LESS_NEAR, 0, "dense", "takes the place of a search"},
        {0, "best:lookups=5", FAR, 0, "pivot", "a GPU partitions large batches"},
        {0, "best:ranges=off,lookups=500000,batch=1000", FAR, 0, "pivot", "twice as long for a hash table"},
        {0, "best:ranges=off,lookups=500001,batch=1000", FAR, 0, "hash", "one or two nodes"},
        {0, "best:ranges=off,lookups=500001,batch=4194303", FAR, 0, "hash", "one or two nodes"},
        {0, "best:ranges=off,lookups=500001,batch=4194304", FAR, 0, "pivot",
         "large batches, which are partitioned"},
        {0, "best:ranges=off,lookups=2000000", FAR, 0, "pivot", "large batches, which are partitioned"},
        {0, "best:ranges=off,lookups=2000001", FAR, 0, "hash", "one or two nodes"},
        {0, "best:ranges=off,lookups=5", NEAR, 0, "dense", "take less memory"},
        {0, "best:ranges=off", LESS_NEAR, 0, "hash", "one or two nodes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        const struct told *t = &all[i];
        const kr_look look = look_of(t->gap, t->ascends);
        const char *reason = NULL, *kind = chosen(t->on_cpu, t->text, &look, &reason);
        if (strcmp(kind, t->kind) != 0 || !strstr(reason, t->reason))
            fail_msg("row %zu, %s on a %s: %s, because %s", i, t->text, t->on_cpu ? "CPU" : "GPU", kind,
                     reason);
    }
    const kr_look none = {.type = KR_U32}, near = look_of(NEAR, 0);
    const char *reason = NULL;
    assert_string_equal(chosen(1, "best:ranges=off,lookups=1", &none, &reason), "hash");
    assert_string_equal(chosen(1, "best:lookups=1", &none, &reason), "pivot");
    assert_string_equal(chosen_before(1, "best", &near, MANY / 2, &reason), "pivot");
    assert_string_equal(chosen_before(1, "best", &near, MANY / 2 + 1, &reason), "dense");
    assert_string_equal(chosen_before(1, "best", &near, UINT64_MAX, &reason), "dense");
    assert_string_equal(chosen_before(1, "best:lookups=900000", &near, 5, &reason), "dense"); /* as is said */
}

/* What is explained is built, and without a look nothing that was told matters. */
static void builds_what_it_is_told(void **state)
{
    (void)state;
    const kr_column column = column_of(KR_U32, N), unread = {.type = KR_U32, .count = N};
    spread(1000);
    expect("best:ranges=off,lookups=5000", &column, "pivot");
    expect("best:ranges=off,lookups=5001", &column, "hash");
    assert_memory_equal(explain("best:ranges=off,lookups=5", &unread).spec, "hash:", 5);
    spread(3);
    expect("best:ranges=off,lookups=15000,hits=50,batch=7", &column, "dense");
    expect("best:lookups=2500", &column, "pivot");
    expect("best:lookups=2501", &column, "dense");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_by_what_it_is_told),
        cmocka_unit_test(builds_what_it_is_told),
        cmocka_unit_test(takes_dense_up_to_a_spread),
        cmocka_unit_test(finds_steps),
        cmocka_unit_test(knows_types),
        cmocka_unit_test(leaves_out_nulls),
        cmocka_unit_test(looks_again_at_the_build),
        cmocka_unit_test(is_as_ever_without_a_look),
    };
    if (kr_device_open("cpu", NULL, &device, NULL) != KR_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
