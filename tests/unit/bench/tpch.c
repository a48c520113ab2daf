/* Columns of TPC-H: the same bytes everywhere, and what clause 4.2.3 of its specification says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "generated.h"

enum { COLUMNS = KR_TPCH_CONTAINER + 1 };

static const kr_tpch_spec spec = {.scale_hundredths = 2};

static uint32_t *column(kr_tpch_column c, uint32_t threads)
{
    uint32_t *values = malloc(kr_tpch_rows(&spec) * sizeof *values);
    assert_non_null(values);
    kr_generate_tpch(&spec, c, threads, values);
    return values;
}

static void test_pinned(void **state)
{
    (void)state;
    static const uint64_t hashes[COLUMNS] = {UINT64_C(0x89194179BDCD91E3), UINT64_C(0x4A12AE130757F8CD),
                                             UINT64_C(0xB41AB731478BBB27), UINT64_C(0xDB1A4A2A2E65F551),
                                             UINT64_C(0x8D731813683A0164), UINT64_C(0x05914078D47531E3),
                                             UINT64_C(0xEF39F3AE70E24F85)};
    const uint64_t n = kr_tpch_rows(&spec);
    assert_int_equal(n, 120039);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        for (uint32_t threads = 1; threads < 8; threads += 3) {
            uint32_t *values = column(c, threads);
            assert_int_equal(hash_bytes(values, n * sizeof *values), hashes[c]);
            free(values);
        }
}

/* All values from the first to the last come, about equally often, and no others. */
static void check_uniform(kr_tpch_column c, uint32_t first, uint32_t last, double slack)
{
    const uint64_t n = kr_tpch_rows(&spec), values = last - first + 1;
    uint64_t *seen = calloc(values, sizeof *seen);
    uint32_t *drawn = column(c, 0);
    assert_non_null(seen);
    for (uint64_t i = 0; i < n; ++i) {
        assert_in_range(drawn[i], first, last);
        ++seen[drawn[i] - first];
    }
    for (uint64_t v = 0; v < values; ++v) {
        const double share = (double)(seen[v] * values) / (double)n;
        assert_true(share > 1 - slack && share < 1 + slack);
    }
    free(drawn);
    free(seen);
}

static void test_distributions(void **state)
{
    (void)state;
    check_uniform(KR_TPCH_DISCOUNT, 0, 10, 0.05);
    check_uniform(KR_TPCH_QUANTITY, 1, 50, 0.1);
    check_uniform(KR_TPCH_SEGMENT, 0, 4, 0.1);
    check_uniform(KR_TPCH_BRAND, 0, 24, 0.3);                 /* of 4,000 parts */
    check_uniform(KR_TPCH_CONTAINER, 0, 39, 0.4);             /* the same */
    check_uniform(KR_TPCH_ORDERDATE, 8035, 8035 + 2405, 1.5); /* 12 orders a day: only the range is sure */
}

/* An order has up to 7 neighbours of one date and one segment, and ships within 121 days after it. */
static void test_orders(void **state)
{
    (void)state;
    const uint64_t n = kr_tpch_rows(&spec);
    uint32_t *ordered = column(KR_TPCH_ORDERDATE, 0), *shipped = column(KR_TPCH_SHIPDATE, 0),
             *segments = column(KR_TPCH_SEGMENT, 0);
    uint64_t runs = 1, longest = 1, run = 1;
    for (uint64_t i = 0; i < n; ++i) {
        assert_in_range(shipped[i] - ordered[i], 1, 121);
        const int same = i && ordered[i] == ordered[i - 1] && segments[i] == segments[i - 1];
        run = same ? run + 1 : 1;
        longest = run > longest ? run : longest;
        runs += i && !same;
    }
    /* 30,000 orders; few neighbours are alike by chance. */
    assert_in_range(runs, 29900, 30000);
    assert_in_range(longest, 7, 14);
    free(segments);
    free(shipped);
    free(ordered);
}

static void test_words(void **state)
{
    (void)state;
    static const uint32_t counts[COLUMNS] = {
        [KR_TPCH_SEGMENT] = 5, [KR_TPCH_BRAND] = 25, [KR_TPCH_CONTAINER] = 40};
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        char before[16] = "", word[16];
        assert_int_equal(kr_tpch_words(c), counts[c]);
        for (uint32_t i = 0; i < counts[c]; ++i) {
            kr_tpch_word(c, i, word);
            assert_true(strcmp(before, word) < 0);
            memcpy(before, word, sizeof word);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
