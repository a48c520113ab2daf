/* The pinned words of kind `array`: searches that read them end where searches without them do, for every
 * number of words. The bodies are included unchanged, under other names. */
#define KR_KEY_BITS 32
#undef KR_WITH_CUDA
#define array_soa pins_soa
#define array_aos pins_aos
#define array_kary pins_kary

#include "index/families/array/array_width_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 140, UNREAD = 0xDEAD };

static const kr_group alone = {0, 1};

/* Keys 10, 20, ... with runs of 3; the first one >= lower, by the body, with this many words. */
static uint32_t search(const array_params *p, uint32_t lower, uint32_t n_pins)
{
    kr_key words[2 * MOST];
    array_state s;
    for (uint32_t j = 0; j < n_pins; ++j)
        words[j] = array_pinned(p, j);
    for (uint32_t j = n_pins; j < 2 * MOST; ++j)
        words[j] = UNREAD;
    const kr_pin pin = {words, n_pins, 0};
    array_params copy = *p;
    copy.batch.lower = &lower;
    copy.put.what = KR_PUT_ROW;
    if (array_begin(&copy, 0, lower, &s))
        while (array_soa_step(&copy, pin, alone, &s))
            ;
    return s.at;
}

static void finds_the_same(void **state)
{
    uint32_t keys[MOST];
    (void)state;
    for (uint32_t i = 0; i < MOST; ++i)
        keys[i] = (i / 3 + 1) * 10;
    for (uint32_t n = 1; n <= MOST; n = n < 40 ? n + 1 : n + 9) {
        const array_params params = {
            .batch = {.lower_type = KR_U32, .upper_type = KR_U32},
            .entries = kr_entries_of(KR_LAYOUT_SOA, sizeof *keys, keys, NULL, n),
            .top = 0x80000000u >> kr_clz32(n),
            .k = 2,
        };
        for (uint32_t lower = 0; lower <= keys[n - 1] + 5; lower += 5) {
            uint32_t want = 0;
            while (want < n && keys[want] < lower)
                ++want;
            for (uint32_t n_pins = 0; n_pins < 2 * params.top; ++n_pins)
                assert_int_equal(search(&params, lower, n_pins), want);
        }
    }
}

/* With every word pinned the entries themselves are not read. */
static void reads_the_words(void **state)
{
    uint32_t keys[100];
    kr_key words[127];
    (void)state;
    for (uint32_t i = 0; i < 100; ++i)
        keys[i] = i + 1;
    array_params params = {
        .batch = {.lower_type = KR_U32, .upper_type = KR_U32},
        .put = {.what = KR_PUT_ROW},
        .entries = kr_entries_of(KR_LAYOUT_SOA, sizeof *keys, keys, NULL, 100),
        .top = 64,
        .k = 2,
    };
    for (uint32_t j = 0; j < 127; ++j)
        words[j] = array_pinned(&params, j);
    memset(keys, 0, sizeof keys);
    for (uint32_t lower = 0; lower < 110; ++lower) {
        const kr_pin pin = {words, 127, 0};
        array_state s;
        params.batch.lower = &lower;
        assert_true(array_begin(&params, 0, lower, &s));
        while (array_soa_step(&params, pin, alone, &s))
            ;
        assert_int_equal(s.at, lower == 0 ? 0 : lower > 100 ? 100 : lower - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_same),
        cmocka_unit_test(reads_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
