/* The parts of src/advise that a call does not show: that different answers are an error, that codes are in
 * the order of values, that a sample is as dense as its column, and what becomes of a kind that may refuse
 * the whole column. */
#include "advise/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void different_answers_are_an_error(void **state)
{
    const kr_advise_trial a = {.spec = "array"}, b = {.spec = "hash"};
    const kr_advise_answers three = {3, 17}, same = {3, 17}, four = {4, 17}, other = {3, 18};
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_advise_compare(&a, &b, &three, &same, &err), KR_OK);
    assert_int_equal(kr_advise_compare(&a, &b, &three, &other, &err), KR_ERR_INTERNAL);
    assert_non_null(
        strstr(err.text, "'array' and 'hash' answer the same questions differently: 3 and 3 rows"));
    assert_int_equal(kr_advise_compare(&a, &b, &three, &four, &err), KR_ERR_INTERNAL);
    assert_non_null(strstr(err.text, "3 and 4 rows"));
}

/* Codes ascend with the values, and lead back to them. */
static void check_codes(kr_type type, const void *values, uint64_t n)
{
    char back[8];
    const uint32_t nbytes = kr_type_nbytes(type);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t code = kr_advise_code(type, values, i);
        assert_true(code <= kr_advise_code_most(type));
        assert_true(i == 0 || kr_advise_code(type, values, i - 1) < code);
        kr_advise_value(type, code, back, 0);
        assert_memory_equal(back, (const char *)values + i * nbytes, nbytes);
    }
}

static void codes_are_in_the_order_of_values(void **state)
{
    const int8_t small[] = {-128, -1, 0, 1, 127};
    const uint16_t middle[] = {0, 1, 65535};
    const int64_t large[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    const float reals[] = {-1e30f, -1, -1e-40f, 0, 1e-40f, 1, 1e30f};
    const double doubles[] = {-1e300, -1, 0, 1, 1e300};
    const float zeros[] = {0.0f, -0.0f};
    (void)state;
    check_codes(KR_I8, small, 5);
    check_codes(KR_U16, middle, 3);
    check_codes(KR_I64, large, 5);
    check_codes(KR_TIMESTAMP64, large, 5);
    check_codes(KR_F32, reals, 7);
    check_codes(KR_F64, doubles, 5);
    assert_true(kr_advise_code(KR_F32, zeros, 0) == kr_advise_code(KR_F32, zeros, 1));
}

enum { N = 1 << 20, ROWS = 1 << 14 };

static void check_sample(kr_advise_column *whole, double density)
{
    kr_advise_column sample;
    kr_error err = {0};
    assert_int_equal(kr_advise_sort(whole, &err), KR_OK);
    assert_int_equal(kr_advise_sample(whole, ROWS, &sample, &err), KR_OK);
    assert_true(sample.valid > ROWS / 2 && sample.valid <= 2 * ROWS);
    const uint64_t span = sample.sorted[sample.n_sorted - 1] - sample.sorted[0] + 1;
    const double found = (double)sample.valid / (double)span;
    assert_true(found > 0.9 * density && found < 1.1 * density);
    kr_advise_drop(&sample);
    free(whole->sorted);
    whole->sorted = NULL;
}

static void a_sample_is_as_dense_as_the_column(void **state)
{
    static int32_t values[N];
    static uint8_t validity[N / 8];
    kr_advise_column whole = {.view = {.type = KR_I32, .count = N, .data = values}};
    (void)state;
    for (int32_t i = 0; i < N; ++i)
        values[i] = (int32_t)((uint32_t)i * 7919u % N) * 4 - 2 * N; /* one in 4 values */
    check_sample(&whole, 0.25);
    memset(validity, 0x55, sizeof validity);
    whole.view.validity = validity;
    check_sample(&whole, 0.125);
    for (int32_t i = 0; i < N; ++i)
        values[i] = i / 8; /* ascending, each 8 times */
    whole.view.validity = NULL;
    check_sample(&whole, 8);
}

/* ---- A kind that may refuse the whole column --------------------------------------------------------- */

/* Kind 0 is the fastest by far, so that the others are left out with few rows. */
enum { KINDS = 5, MANY = 100000000 };

static struct {
    kr_advise_subject s;
    double build_of_row, seconds; /* of a row; of the call */
    int takes_all, builds_all;
    uint64_t rows;     /* of the round */
    const char *rival; /* NULL, or the spec of the third one, which keeps half as much */
    double slower;     /* times as slow as b */
    double stalled;    /* seconds that the first pass of b is held up with many rows */
} made = {.seconds = 5};

static kr_status prepare(kr_advise_subject *s, uint64_t *rows, kr_error *err)
{
    (void)s, (void)err;
    made.rows = *rows;
    return KR_OK;
}

static int is_rival(const kr_advise_trial *t)
{
    return made.rival && strcmp(t->spec, made.rival) == 0;
}

static kr_status build(kr_advise_subject *s, int is_whole, kr_advise_trial *t, kr_error *err)
{
    const uint64_t rows = is_whole ? MANY : made.rows;
    (void)s;
    made.builds_all += is_whole;
    if (rows == MANY && t->may_refuse)
        return kr_fail(err, KR_ERR_LIMIT, "too far apart");
    t->build = made.build_of_row * (double)rows;
    t->footprint_nbytes = t->peak_nbytes = is_rival(t) ? 4 * rows : 8 * rows;
    t->object = t;
    return KR_OK;
}

static void destroy(kr_advise_trial *t)
{
    t->object = NULL;
}

static kr_status settle(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    (void)s, (void)t, (void)err;
    return KR_OK;
}

static kr_status answer(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    (void)s, (void)err;
    t->lookup[0] = t->may_refuse ? 1e-9 : 1e-8 * (t->spec[0] - 'a' + 5);
    if (is_rival(t))
        t->lookup[0] = 6e-8 * made.slower;
    return KR_OK;
}

static kr_status verify(kr_advise_subject *s, kr_advise_trial *t, kr_advise_answers *answers, kr_error *err)
{
    (void)s, (void)t, (void)err;
    *answers = (kr_advise_answers){0, 0};
    return KR_OK;
}

static kr_status pass(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    const double until = kr_advise_now() + made.stalled;
    if (!t->passes++ && t->spec[0] == 'b' && made.rows > 1 << 20)
        while (kr_advise_now() < until)
            t->lookup[0] = 1;
    else
        return answer(s, t, err);
    return KR_OK;
}

static int takes_all(kr_advise_subject *s, const kr_advise_trial *t)
{
    (void)s;
    assert_true(t->may_refuse);
    return made.takes_all;
}

static const kr_advise_ops ops = {.prepare = prepare,
                                  .build = build,
                                  .destroy = destroy,
                                  .settle = settle,
                                  .pilot = answer,
                                  .verify = verify,
                                  .pass = pass,
                                  .takes_all = takes_all};

/* Kinds b to e of the first round are slower than a by more than goes on, but for the three that stay. */
static void run_plan(double build_of_row, int takes, uint64_t lookups, kr_advise_trial trials[KINDS])
{
    static const kr_progress none;
    kr_error err = {0};
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", NULL, &device, &err), KR_OK);
    made.s = (kr_advise_subject){
        .ops = &ops, .device = device, .rows = MANY, .operations = KR_CAN_POINT, .lookups = {lookups, 0}};
    made.build_of_row = build_of_row;
    made.takes_all = takes;
    made.builds_all = 0;
    memset(trials, 0, KINDS * sizeof *trials);
    for (int i = 0; i < KINDS; ++i)
        trials[i].spec[0] = (char)('a' + i);
    trials[0].may_refuse = 1;
    if (made.rival)
        strcpy(trials[2].spec, made.rival);
    const double now = kr_advise_now();
    kr_advise_plan plan = {.subject = &made.s,
                           .trials = trials,
                           .n = KINDS,
                           .begin = now,
                           .end = now + made.seconds,
                           .progress = &none};
    assert_int_equal(kr_advise_run(&plan, &err), KR_OK);
    kr_device_close(device);
}

static void what_may_refuse_the_column_is_not_advised_unseen(void **state)
{
    kr_advise_trial trials[KINDS];
    (void)state;
    run_plan(2e-8, 0, 1000, trials); /* 2 s, so there is time to build it of all rows */
    assert_string_equal(trials[0].spec, "b");
    assert_int_equal(made.builds_all, 2);
    assert_int_equal(trials[KINDS - 1].status, KR_ERR_LIMIT);
    run_plan(1e-6, 0, 1000, trials); /* there is not */
    assert_string_equal(trials[0].spec, "b");
    assert_int_equal(made.builds_all, 0);
    for (int i = 0; i < KINDS; ++i)
        if (trials[i].may_refuse) {
            assert_int_equal(trials[i].state, KR_ADVICE_LATE);
            assert_non_null(strstr(trials[i].note, "whether it takes all rows"));
        }
    run_plan(1e-6, 1, 1000, trials); /* nor need there be */
    assert_string_equal(trials[0].spec, "a");
    assert_int_equal(made.builds_all, 0);
}

/* So many lookups that the others are left out at once: the only one that was measured is refused. */
static void what_came_less_far_takes_the_place(void **state)
{
    kr_advise_trial trials[KINDS];
    (void)state;
    run_plan(2e-8, 0, MANY, trials);
    assert_string_equal(trials[0].spec, "b");
    assert_int_equal(trials[0].state, 0);
    assert_int_equal(trials[KINDS - 1].status, KR_ERR_LIMIT);
}

/* ---- The smaller of two specs of one kind ----------------------------------------------------------- */

/* b, the fastest but for a, which is refused, and its smaller rival `b:less` or `c`. */
static const char *smaller_one(const char *rival, double slower)
{
    static kr_advise_trial trials[KINDS];
    made.rival = rival;
    made.slower = slower;
    run_plan(1e-6, 0, 1000, trials);
    made.rival = NULL;
    return trials[0].spec;
}

static void the_smaller_spec_of_a_kind_stands_for_a_sample(void **state)
{
    (void)state;
    assert_string_equal(smaller_one("b:less", 1.05), "b:less");
    assert_string_equal(smaller_one("b:less", 2), "b");
    assert_string_equal(smaller_one("c", 1.05), "b");
}

/* ---- Time ---------------------------------------------------------------------------------------------- */

static void a_pass_that_is_held_up_is_repeated(void **state)
{
    kr_advise_trial trials[KINDS];
    (void)state;
    made.stalled = 0.3;
    made.seconds = 0.2;
    run_plan(1e-12, 0, 1000, trials);
    made.stalled = 0;
    made.seconds = 5;
    for (int i = 0; i < KINDS; ++i)
        if (trials[i].spec[0] == 'b')
            assert_true(trials[i].lookup[0] < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(different_answers_are_an_error),
                                       cmocka_unit_test(codes_are_in_the_order_of_values),
                                       cmocka_unit_test(a_sample_is_as_dense_as_the_column),
                                       cmocka_unit_test(what_may_refuse_the_column_is_not_advised_unseen),
                                       cmocka_unit_test(what_came_less_far_takes_the_place),
                                       cmocka_unit_test(the_smaller_spec_of_a_kind_stands_for_a_sample),
                                       cmocka_unit_test(a_pass_that_is_held_up_is_repeated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
