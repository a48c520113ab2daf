/* The seeded hash of codes: a bijection of 32-bit codes, and top bits that share codes out evenly; codes come
 * back from mixed ones. */
#include "base/key/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CODES = 1 << 20, PART_BITS = 8, PARTS = 1 << PART_BITS };

static const uint64_t seeds[] = {0, 1, UINT64_C(0x1234567890ABCDEF), ~UINT64_C(0)};

/* 2^20 codes of a pattern that a poor hash would keep. */
static uint64_t code_of(int pattern, uint64_t i)
{
    switch (pattern) {
    case 0: return i;                                       /* dense */
    case 1: return i << 12;                                 /* low bits the same */
    case 2: return i << 44;                                 /* high bits only: of 64-bit codes */
    default: return i * UINT64_C(0x0000000100000001) << 10; /* both halves move together */
    }
}

/* Every part gets its share, give or take six standard deviations. */
static void check_even(const uint32_t *counts)
{
    const double mean = (double)CODES / PARTS, most = 6 * 64; /* sqrt(mean) is 64 */
    for (uint32_t p = 0; p < PARTS; ++p)
        assert_true((double)counts[p] > mean - most && (double)counts[p] < mean + most);
}

static void shares_out_evenly(void **state)
{
    static uint32_t narrow[PARTS], wide[PARTS];
    (void)state;
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; ++s)
        for (int pattern = 0; pattern < 4; ++pattern) {
            memset(narrow, 0, sizeof narrow);
            memset(wide, 0, sizeof wide);
            for (uint64_t i = 0; i < CODES; ++i) {
                ++narrow[kr_code_hash32((uint32_t)code_of(pattern % 2, i), seeds[s]) >> (32 - PART_BITS)];
                ++wide[kr_code_hash64(code_of(pattern, i), seeds[s]) >> (32 - PART_BITS)];
            }
            check_even(narrow);
            check_even(wide);
        }
}

/* As many different hashes as codes. */
static void is_a_bijection(void **state)
{
    uint8_t *seen = calloc((size_t)1 << 29, 1);
    (void)state;
    assert_non_null(seen);
    for (uint64_t code = 0; code < (uint64_t)1 << 32; code += 1 + (code * 7 + 3) % 61) {
        const uint32_t hash = kr_code_hash32((uint32_t)code, seeds[2]);
        assert_false(seen[hash / 8] >> hash % 8 & 1);
        seen[hash / 8] |= (uint8_t)(1 << hash % 8);
    }
    free(seen);
}

/* Another seed is another order: codes of one part are spread over all. */
static void seeds_differ(void **state)
{
    static uint32_t counts[PARTS];
    uint64_t taken = 0;
    (void)state;
    memset(counts, 0, sizeof counts);
    for (uint64_t code = 0; taken < CODES / 16; ++code)
        if (kr_code_hash64(code, seeds[0]) >> (32 - PART_BITS) == 0) {
            ++counts[kr_code_hash64(code, seeds[2]) >> (32 - PART_BITS)];
            ++taken;
        }
    for (uint32_t p = 0; p < PARTS; ++p) /* 256 each, give or take six standard deviations */
        assert_true(counts[p] > 256 - 96 && counts[p] < 256 + 96);
}

static void check_inverse(uint64_t code, uint64_t seed)
{
    const uint32_t low = (uint32_t)code;
    assert_true(kr_unmix32(kr_mix32(low, seed), seed) == low);
    assert_true(kr_mix32(kr_unmix32(low, seed), seed) == low);
    assert_true(kr_unmix64(kr_mix64(code, seed), seed) == code);
    assert_true(kr_mix64(kr_unmix64(code, seed), seed) == code);
}

static void unmixing_inverts_mixing(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; ++s)
        for (int pattern = 0; pattern < 4; ++pattern)
            for (uint64_t i = 0; i < CODES; ++i) {
                check_inverse(code_of(pattern, i), seeds[s]);
                check_inverse(~code_of(pattern, i), seeds[s]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_out_evenly),
        cmocka_unit_test(is_a_bijection),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(unmixing_inverts_mixing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
