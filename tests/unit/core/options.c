/* What spec strings can hold that kind `array` does not use, on a kind of the test's own: it stands in for
 * the registry. */
#include "core/family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spec_text.h"

enum { MODE, BITS, FACTOR, PARTS, OPTIONS };
enum { NARROW, WIDE };
enum { STANDARD_BITS = 23 | 23 << 8 | 18 << 16 };

static const kr_option options[OPTIONS] = {
    [MODE] = {"mode", KR_OPTION_CHOICE, "narrow|wide", 0, 1, NARROW, "a choice"},
    [BITS] = {"bits", KR_OPTION_TRIPLE, NULL, 0, 23, STANDARD_BITS, "three numbers"},
    [FACTOR] = {"factor", KR_OPTION_INTEGER, NULL, 0, 40, 0, "a number"},
    [PARTS] = {"parts", KR_OPTION_TRIPLE, NULL, 1, 255, 1 | 1 << 8 | 1 << 16, "up to the last byte"},
};

/* wide: a factor of 7 where none is given, and none but 7. */
static kr_status settle(kr_spec *spec, kr_error *err)
{
    if (spec->options[MODE] != WIDE)
        return KR_OK;
    if (!(spec->given >> FACTOR & 1))
        spec->options[FACTOR] = 7;
    if (spec->options[FACTOR] != 7)
        return kr_fail(err, KR_ERR_SPEC, "mode=wide goes with factor=7 only");
    return KR_OK;
}

static const kr_family toy = {
    .info = {.name = "toy", .n_options = OPTIONS, .options = options},
    .settle = settle,
};

const kr_family *kr_family_at(uint32_t ordinal)
{
    return ordinal == 0 ? &toy : NULL;
}

/* Prints as `want`, which prints as itself. */
static void check_printed(const char *text, const char *want)
{
    char once[KR_SPEC_NBYTES] = "", twice[KR_SPEC_NBYTES] = "";
    const kr_spec spec = parsed(text), again = parsed(want);
    assert_int_equal(kr_spec_format(&spec, once, sizeof once, NULL), KR_OK);
    assert_string_equal(once, want);
    assert_int_equal(kr_spec_format(&again, twice, sizeof twice, NULL), KR_OK);
    assert_string_equal(twice, want);
}

static void reads_triples(void **state)
{
    const kr_spec spec = parsed("toy:bits=1:20:03,parts=255:1:254");
    (void)state;
    assert_int_equal(kr_triple_part(spec.options[BITS], 0), 1);
    assert_int_equal(kr_triple_part(spec.options[BITS], 1), 20);
    assert_int_equal(kr_triple_part(spec.options[BITS], 2), 3);
    assert_int_equal(kr_triple_part(spec.options[PARTS], 0), 255);
    assert_int_equal(kr_triple_part(spec.options[PARTS], 1), 1);
    assert_int_equal(kr_triple_part(spec.options[PARTS], 2), 254);
    assert_true(parsed("toy").options[BITS] == STANDARD_BITS);
    assert_true(parsed("toy:bits=0:0:0").options[BITS] == 0);
}

static void prints_triples(void **state)
{
    (void)state;
    check_printed("toy", "toy:mode=narrow,bits=23:23:18,factor=0,parts=1:1:1,probes=auto");
    check_printed("toy:parts=255:9:255,probes=sorted,bits=0:07:23",
                  "toy:mode=narrow,bits=0:7:23,factor=0,parts=255:9:255,probes=sorted");
}

static void refuses_triples(void **state)
{
    static const char *const values[] = {"",
                                         ":",
                                         "::",
                                         "1",
                                         "1:2",
                                         "1:2:",
                                         ":1:2",
                                         "1::2",
                                         "1:2:3:",
                                         "1:2:3:4",
                                         "24:0:0",
                                         "0:24:0",
                                         "0:0:24",
                                         "-1:0:0",
                                         "0:-1:0",
                                         "+1:0:0",
                                         " 1:0:0",
                                         "1: 0:0",
                                         "1:0:0 ",
                                         "1:0x2:0",
                                         "a:b:c",
                                         "1;2;3",
                                         "1.0:2:3",
                                         "1:2:256",
                                         "257:0:0",
                                         "23:23:18:",
                                         "1:2:00000000000000000000000000003",
                                         "99999999999999999999:1:1"};
    char text[96];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        snprintf(text, sizeof text, "toy:bits=%s", values[i]);
        refuse(text, "'bits' is three numbers from 0 to 23", "as in 23:23:18");
    }
    refuse("toy:parts=1:0:1", "'parts' is three numbers from 1 to 255", "'1:0:1'");
    refuse("toy:parts=1:1:256", "from 1 to 255", "'1:1:256'");
    refuse("toy:bits", "'bits' needs a value", "bits=");
    refuse("toy:bits=1:2:3,bits=1:2:3", "'bits'", "twice");
    /* Only the first ':' ends the kind. */
    refuse("toy:mode=wide:bits=1:2:3", "'mode'", "wide:bits=1:2:3");
    refuse("toy:factor=1:2", "'factor' is a number", "1:2");
}

static void knows_what_was_given(void **state)
{
    (void)state;
    assert_int_equal(parsed("toy").given, 0);
    assert_int_equal(parsed("toy:probes=auto").given, 0);
    assert_int_equal(parsed("toy:bits=23:23:18").given, 1u << BITS);
    assert_int_equal(parsed("toy:parts=1:1:1,probes=sorted,mode=narrow").given, 1u << PARTS | 1u << MODE);
}

static void settles(void **state)
{
    (void)state;
    assert_true(parsed("toy:factor=3").options[FACTOR] == 3);
    assert_true(parsed("toy:mode=wide").options[FACTOR] == 7);
    assert_true(parsed("toy:factor=7,mode=wide").options[FACTOR] == 7);
    refuse("toy:mode=wide,factor=3", "mode=wide", "factor=7");
    refuse("toy:factor=0,mode=wide", "mode=wide", "factor=7");
    check_printed("toy:mode=wide", "toy:mode=wide,bits=23:23:18,factor=7,parts=1:1:1,probes=auto");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_triples),   cmocka_unit_test(prints_triples),
        cmocka_unit_test(refuses_triples), cmocka_unit_test(knows_what_was_given),
        cmocka_unit_test(settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
