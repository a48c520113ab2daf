/* Kinds with a fan-out: numbers of keys around every power of it, where levels of a tree fill up, and numbers
 * that cut the last node off. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 2500, REDUCED_KEYS = 300 };

static const uint32_t fan_outs[] = {2, 3, 4, 5, 7, 9, 16, 17, 32, 33};
static const kr_pattern patterns[] = {KR_PATTERN_DUPLICATES, KR_PATTERN_DENSE, KR_PATTERN_EXTREME,
                                      KR_PATTERN_RANDOM};

static int check_count(kr_suite *suite, const kr_suite_device *on, const char *spec, uint64_t n)
{
    const kr_type type = n % 2 ? KR_U32 : KR_U64;
    uint32_t refusals = 0;
    kr_fixture fixture;
    kr_index *index = NULL;
    kr_error err = {0};
    kr_fixture_make(suite, type, patterns[n / 2 % (sizeof patterns / sizeof patterns[0])], n, &fixture);
    const kr_status status =
        kr_index_create(on->device, spec, &fixture.data.keys.view, NULL, NULL, &index, &err);
    int good = kr_test_ok(suite, status, &err, "kr_index_create");
    if (good)
        good = kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
    if (good)
        good = kr_fixture_check(&fixture, spec, index, KR_OK, &refusals);
    if (!good)
        kr_test_fail(suite, "%s with %llu keys", spec, (unsigned long long)n);
    kr_index_destroy(index);
    kr_fixture_free(&fixture);
    return good;
}

/* From one too few for a full level to an entry and a node more; both widths and all patterns come up. */
static void check_powers(kr_suite *suite, const kr_suite_device *on, const char *spec, uint64_t k)
{
    const uint64_t most = suite->reduced ? REDUCED_KEYS : MOST_KEYS;
    uint64_t done = 0;
    for (uint64_t power = k; power <= most; power *= k) {
        const uint64_t counts[] = {power - 2, power - 1, power,         power + 1,
                                   power + 2, power + k, 2 * power - 1, power + power / 2 + 1};
        for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
            if (counts[i] >= done && !check_count(suite, on, spec, counts[i]))
                return;
        done = power;
    }
}

static void check_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    char text[KR_SPEC_NBYTES], k[32];
    if (strchr(spec, ':')) {
        check_powers(suite, on, spec, strtoull(kr_spec_option(spec, "k", k), NULL, 10));
        return;
    }
    for (uint32_t i = 0; i < sizeof fan_outs / sizeof fan_outs[0]; ++i) {
        snprintf(text, sizeof text, "%s:k=%u", spec, fan_outs[i]);
        check_powers(suite, on, text, fan_outs[i]);
    }
}

void kr_run_counts(kr_suite *suite)
{
    char k[32];
    if (kr_spec_option(suite->spec, "k", k)[0])
        kr_test_special(suite, "counts", 0, check_spec);
}
