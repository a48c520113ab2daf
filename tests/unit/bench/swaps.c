/* Rows that exchange their keys: the same bytes everywhere, and the pairs that bench.h promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generated.h"

static const struct {
    kr_swaps_spec spec;
    uint64_t rows, keys;
} pinned_swaps[] = {
    {{.pairs = 500}, UINT64_C(0xC4D67112BF6ADE19), UINT64_C(0x76549AF179F950AA)},
    {{.pairs = 500, .by_rank = 1, .seed = 7}, UINT64_C(0x8F4F28EA10331827), UINT64_C(0xEB971A6B214058F0)},
};

static void test_swaps_pinned(void **state)
{
    (void)state;
    uint32_t rows[1000], changed[1000];
    kr_keys_spec spec = {.count = 5000, .uniformity = 50};
    void *keys = generated_keys(&spec, 0);
    for (size_t i = 0; i < LENGTH(pinned_swaps); i++) {
        assert_int_equal(
            kr_generate_swaps(&pinned_swaps[i].spec, KR_U32, spec.count, keys, 0, rows, changed, NULL),
            KR_OK);
        assert_int_equal(hash_bytes(rows, sizeof rows), pinned_swaps[i].rows);
        assert_int_equal(hash_bytes(changed, sizeof changed), pinned_swaps[i].keys);
    }
    free(keys);
}

/* Rows are distinct, partners are neighbours and get each other's key; all pairs are drawn. */
static void check_swaps(const kr_keys_spec *keys_spec, const kr_swaps_spec *spec)
{
    kr_type type = keys_spec->bits == 64 ? KR_U64 : KR_U32;
    void *keys = generated_keys(keys_spec, 2), *changed = malloc(2 * spec->pairs * sizeof(uint64_t));
    uint64_t *sorted = ascending(keys_spec, keys);
    uint32_t *rows = malloc(2 * spec->pairs * sizeof *rows);
    uint8_t *seen = calloc(keys_spec->count, 1);
    assert_int_equal(kr_generate_swaps(spec, type, keys_spec->count, keys, 3, rows, changed, NULL), KR_OK);
    for (uint64_t i = 0; i < 2 * spec->pairs; i++) {
        uint64_t key = key_of(keys_spec, keys, rows[i]), partner = key_of(keys_spec, keys, rows[i ^ 1]);
        assert_true(rows[i] < keys_spec->count && !seen[rows[i]]++);
        assert_int_equal(key_of(keys_spec, changed, i), partner);
        if (i % 2)
            continue;
        if (!spec->by_rank)
            assert_true(rows[i] % 2 == 0 && rows[i + 1] == rows[i] + 1);
        else if (keys_spec->multiplicity <= 1)
            assert_ptr_equal((uint64_t *)bsearch(&key, sorted, keys_spec->count, sizeof key, by_value) + 1,
                             bsearch(&partner, sorted, keys_spec->count, sizeof key, by_value));
    }
    free(seen);
    free(rows);
    free(sorted);
    free(changed);
    free(keys);
}

static void test_swaps(void **state)
{
    (void)state;
    static const kr_keys_spec sets[] = {
        {.count = 4096, .uniformity = 100},
        {.count = 4095, .uniformity = 50, .bits = 64},
        {.count = 4096, .multiplicity = 4},
        {.count = 2},
    };
    for (size_t set = 0; set < LENGTH(sets); set++)
        for (uint32_t by_rank = 0; by_rank < 2; by_rank++) {
            check_swaps(&sets[set], &(kr_swaps_spec){.pairs = sets[set].count / 2, .by_rank = by_rank});
            check_swaps(&sets[set], &(kr_swaps_spec){.pairs = sets[set].count / 20 + 1, .by_rank = by_rank});
        }
}

static void test_impossible_swaps(void **state)
{
    (void)state;
    static const uint8_t keys[] = {4, 5, 6};
    uint32_t rows[4] = {77, 77, 77, 77};
    uint8_t changed[4];
    kr_error err = {0};
    assert_int_equal(kr_generate_swaps(&(kr_swaps_spec){.pairs = 2}, KR_U8, 3, keys, 0, rows, changed, &err),
                     KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "pairs is 2"));
    assert_int_equal(
        kr_generate_swaps(&(kr_swaps_spec){.pairs = 1, .by_rank = 2}, KR_U8, 3, keys, 0, rows, changed, &err),
        KR_ERR_ARGUMENT);
    assert_int_equal(kr_generate_swaps(&(kr_swaps_spec){.pairs = 1}, KR_U8, 3, keys, 0, NULL, changed, &err),
                     KR_ERR_ARGUMENT);
    assert_int_equal(kr_generate_swaps(&(kr_swaps_spec){.pairs = 1}, KR_F32, 3, keys, 0, rows, changed, &err),
                     KR_ERR_UNSUPPORTED);
    assert_true(rows[0] == 77 && rows[1] == 77);
    assert_int_equal(kr_generate_swaps(&(kr_swaps_spec){0}, KR_U8, 0, NULL, 0, NULL, NULL, NULL), KR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_swaps_pinned),
        cmocka_unit_test(test_swaps),
        cmocka_unit_test(test_impossible_swaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
