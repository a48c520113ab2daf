/* Which names are near, and which of them is the nearest. */
#include "base/util/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *wanted, const char *choices, const char *hint)
{
    char text[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(wanted, strlen(wanted));
    kr_spelling_offer_choices(&nearest, choices);
    assert_string_equal(kr_spelling_hint(&nearest, "--", "", text), hint);
}

static void names_that_are_near(void **state)
{
    (void)state;
    check("porbes", "keys|probes|result", " (did you mean --probes?)"); /* exchanged */
    check("probe", "keys|probes", " (did you mean --probes?)");         /* missing */
    check("prrobes", "keys|probes", " (did you mean --probes?)");       /* added */
    check("prides", "keys|probes", " (did you mean --probes?)");        /* two others of six */
    check("PROBES", "keys|probes", " (did you mean --probes?)");
    check("mem", "keys|memory-cap", " (did you mean --memory-cap?)");
    check("soa", "aos|soa", " (did you mean --soa?)"); /* the nearest of two, wherever it stands */
    check("aos", "soa|aos", " (did you mean --aos?)");
    check("sum-row", "sum|rows|sum-rows", " (did you mean --sum-rows?)");
}

static void names_that_are_not(void **state)
{
    (void)state;
    check("frob", "probes|keys|result", "");
    check("x", "k|y", "");
    check("ab", "ac", "");
    check("me", "memory-cap", ""); /* two letters begin too much */
    check("", "a|b", "");
    check("abc", "", "");
    check("quantity", "k|day|name|price", "");
}

static void long_names(void **state)
{
    (void)state;
    char long_name[200], text[KR_SPELLING_HINT_NBYTES];
    memset(long_name, 'a', sizeof long_name);
    for (size_t nbytes = KR_SPELLING_NBYTES - 3; nbytes < sizeof long_name; ++nbytes) {
        kr_spelling nearest = kr_spelling_begin(long_name, nbytes);
        kr_spelling_offer(&nearest, long_name, nbytes - 1);
        kr_spelling_hint(&nearest, "'", "'", text);
        assert_int_equal(strlen(text),
                         nbytes < KR_SPELLING_NBYTES ? nbytes - 1 + strlen(" (did you mean ''?)") : 0);
        if (nbytes + 1 >= KR_SPELLING_NBYTES)
            continue;
        kr_spelling_offer(&nearest, long_name, nbytes + 1); /* as near as the first, which stays */
        assert_int_equal(strlen(nearest.name), nbytes - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_that_are_near),
                                       cmocka_unit_test(names_that_are_not), cmocka_unit_test(long_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
