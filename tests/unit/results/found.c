/* Lists of the probes that found a row, or did not, against a loop: counts around tiles and words, and all
 * shares of hits. */
#include "index/results/found.h"
#include "cpu_device.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 20000 };

static void check(const uint32_t *answers, uint64_t n, int wanted, int with_rows)
{
    kr_error err = {0};
    kr_work work = kr_work_on(device, NULL, &err);
    uint64_t at = 0;
    uint32_t *held = kr_work_take(&work, (n + 1) * sizeof *held, "answers");
    assert_non_null(held);
    memcpy(held, answers, n * sizeof *held);
    const kr_found_job job = {
        .answers = held, .n = n, .wanted = (uint32_t)wanted, .with_rows = (uint32_t)with_rows};
    const kr_found found = kr_found_list(&work, &job);
    assert_int_equal(work.status, KR_OK);
    for (uint64_t i = 0; i < n; ++i) {
        if ((answers[i] != KR_NO_ROW) != wanted)
            continue;
        assert_true(at < found.n);
        assert_int_equal(found.probes[at], i);
        if (with_rows)
            assert_int_equal(found.rows[at], answers[i]);
        ++at;
    }
    assert_int_equal(at, found.n);
    assert_int_equal(kr_work_end(&work), KR_OK);
}

static void lists(void **state)
{
    static const uint64_t counts[] = {0, 1, 31, 32, 33, 4095, 4096, 4097, 8192, MOST};
    static uint32_t answers[MOST];
    kr_rng rng = {7};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c)
        for (uint32_t hits = 0; hits <= 100; hits += 25) {
            for (uint64_t i = 0; i < counts[c]; ++i)
                answers[i] = kr_rng_below(&rng, 100) < hits ? (uint32_t)kr_rng_below(&rng, 1000) : KR_NO_ROW;
            for (int how = 0; how < 4; ++how)
                check(answers, counts[c], how & 1, how >> 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
