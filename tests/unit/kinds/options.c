/* Forms of options in spec strings that kind `array` does not use, with a kind of the test's own in place of
 * the registry. */
#include "index/kinds/family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spec_text.h"

enum { MODE, BITS, FACTOR, PARTS, SCALE, SIZES, FILL, REBUILD, LISTS, OPTIONS };
enum { NARROW, WIDE };
enum { STANDARD_BITS = 23 | 23 << 8 | 18 << 16, STANDARD_SCALE = 15 | 25 << 8 };
/* How the options behind `parts` are printed when they are not given. */
#define REST ",scale=15:25,sizes=1:2,fill=0.5,rebuild=auto,lists=auto"

static const kr_option options[OPTIONS] = {
    [MODE] = {"mode", KR_OPTION_CHOICE, "narrow|wide", 0, 1, NARROW, "a choice"},
    [BITS] = {"bits", KR_OPTION_TRIPLE, NULL, 0, 23, STANDARD_BITS, "three numbers"},
    [FACTOR] = {"factor", KR_OPTION_INTEGER, NULL, 0, 40, 0, "a number"},
    [PARTS] = {"parts", KR_OPTION_TRIPLE, NULL, 1, 255, 1 | 1 << 8 | 1 << 16, "up to the last byte"},
    [SCALE] = {"scale", KR_OPTION_PAIR, "on|off", 0, 25, STANDARD_SCALE, "two numbers or a word"},
    [SIZES] = {"sizes", KR_OPTION_PAIR, NULL, 1, 255, 1 | 2 << 8, "two numbers"},
    [FILL] = {"fill", KR_OPTION_DECIMAL, NULL, 50, 1000, 500, "a share"},
    [REBUILD] = {"rebuild", KR_OPTION_DECIMAL, "auto|never", 1100, 1000000, -1, "a share or a word"},
    [LISTS] = {"lists", KR_OPTION_TEXT, "auto|none", 0, KR_SPEC_TEXT_NBYTES - 1, -1, "a text or a word"},
};

/* wide: a factor of 7 by default, and no other. */
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

static const kr_family family;

static const kr_kind toy = {
    .name = "toy",
    .n_options = OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
};

const kr_kind *kr_kind_at(uint32_t ordinal)
{
    return ordinal == 0 ? &toy : NULL;
}

const char *kr_kind_left_out_at(uint32_t ordinal)
{
    (void)ordinal;
    return NULL;
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
    assert_int_equal(kr_option_triple_part(spec.options[BITS], 0), 1);
    assert_int_equal(kr_option_triple_part(spec.options[BITS], 1), 20);
    assert_int_equal(kr_option_triple_part(spec.options[BITS], 2), 3);
    assert_int_equal(kr_option_triple_part(spec.options[PARTS], 0), 255);
    assert_int_equal(kr_option_triple_part(spec.options[PARTS], 1), 1);
    assert_int_equal(kr_option_triple_part(spec.options[PARTS], 2), 254);
    assert_true(parsed("toy").options[BITS] == STANDARD_BITS);
    assert_true(parsed("toy:bits=0:0:0").options[BITS] == 0);
}

static void prints_triples(void **state)
{
    (void)state;
    check_printed("toy", "toy:mode=narrow,bits=23:23:18,factor=0,parts=1:1:1" REST ",probes=auto");
    check_printed("toy:parts=255:9:255,probes=sorted,bits=0:07:23",
                  "toy:mode=narrow,bits=0:7:23,factor=0,parts=255:9:255" REST ",probes=sorted");
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

static void reads_pairs(void **state)
{
    const kr_spec spec = parsed("toy:scale=3:07,sizes=255:254");
    (void)state;
    assert_int_equal(spec.options[SCALE], 3 | 7 << 8);
    assert_int_equal(spec.options[SIZES], 255 | 254 << 8);
    assert_int_equal(parsed("toy").options[SCALE], STANDARD_SCALE);
    assert_int_equal(parsed("toy:scale=on").options[SCALE], STANDARD_SCALE);
    assert_int_equal(parsed("toy:scale=off").options[SCALE], 0);
    assert_int_equal(parsed("toy:scale=0:0").options[SCALE], 0);
}

static void refuses_pairs(void **state)
{
    static const char *const values[] = {"",       ":",      "::",
                                         "1",      "1:",     ":1",
                                         "1:2:",   "1:2:3",  "26:0",
                                         "0:26",   "-1:0",   "0:-1",
                                         "+1:0",   " 1:0",   "1: 0",
                                         "1:0 ",   "1;2",    "1.0:2",
                                         "a:b",    "1:256",  "257:0",
                                         "On",     "ON",     "onn",
                                         "o",      "on ",    " off",
                                         "no",     "on|off", "|",
                                         "on:off", "0x1:1",  "1:00000000000000000000000000003"};
    char text[96];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        snprintf(text, sizeof text, "toy:scale=%s", values[i]);
        refuse(text, "'scale' is two numbers from 0 to 25", "as in 15:25, or one of on|off, not");
    }
    refuse("toy:sizes=0:1", "'sizes' is two numbers from 1 to 255", "as in 1:2, not '0:1'");
    refuse("toy:sizes=on", "'sizes' is two numbers from 1 to 255", "as in 1:2, not 'on'");
    refuse("toy:scale", "'scale' needs a value", "scale=");
    refuse("toy:scale=on,scale=off", "'scale'", "twice");
}

static void reads_decimals(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } fills[] = {{"0.05", 50},  {"0.050", 50},  {"1", 1000},   {"1.000", 1000}, {"0.5", 500},
                 {"0.51", 510}, {"0.999", 999}, {"00.9", 900}, {"1.0", 1000}};
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; ++i) {
        snprintf(text, sizeof text, "toy:fill=%s", fills[i].text);
        assert_int_equal(parsed(text).options[FILL], fills[i].value);
    }
    assert_int_equal(parsed("toy").options[FILL], 500);
    assert_int_equal(parsed("toy").options[REBUILD], -1);
    assert_int_equal(parsed("toy:rebuild=auto").options[REBUILD], -1);
    assert_int_equal(parsed("toy:rebuild=never").options[REBUILD], -2);
    assert_int_equal(parsed("toy:rebuild=1.1").options[REBUILD], 1100);
    assert_int_equal(parsed("toy:rebuild=1000").options[REBUILD], 1000000);
}

static void refuses_decimals(void **state)
{
    static const char *const values[] = {"",
                                         ".",
                                         ".5",
                                         "1.",
                                         "0.049",
                                         "1.001",
                                         "0",
                                         "2",
                                         "-0.5",
                                         "+0.5",
                                         " 0.5",
                                         "0.5 ",
                                         "0;5",
                                         "0.5.5",
                                         "5e-1",
                                         "0x1",
                                         "0.5000",
                                         "half",
                                         "0.-5",
                                         "0.5f",
                                         "auto",
                                         "1:2",
                                         "nan",
                                         "inf",
                                         "0000000000.5",
                                         "99999999999999999999"};
    char text[96];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        snprintf(text, sizeof text, "toy:fill=%s", values[i]);
        refuse(text, "'fill' is a number from 0.05 to 1 with at most three decimals, not '", values[i]);
    }
    refuse("toy:rebuild=1.099", "'rebuild' is a number from 1.1 to 1000",
           "or one of auto|never, not '1.099'");
    refuse("toy:rebuild=1000.001", "from 1.1 to 1000", "auto|never, not '1000.001'");
    refuse("toy:rebuild=Never", "from 1.1 to 1000", "auto|never, not 'Never'");
    refuse("toy:rebuild=-1", "from 1.1 to 1000", "auto|never, not '-1'");
}

static void prints_pairs_and_decimals(void **state)
{
#define HEAD "toy:mode=narrow,bits=23:23:18,factor=0,parts=1:1:1,"
    (void)state;
    check_printed("toy:scale=off,fill=1.000,rebuild=never",
                  HEAD "scale=0:0,sizes=1:2,fill=1,rebuild=never,lists=auto,probes=auto");
    check_printed("toy:scale=on,fill=0.050,rebuild=2.50,sizes=09:255",
                  HEAD "scale=15:25,sizes=9:255,fill=0.05,rebuild=2.5,lists=auto,probes=auto");
    check_printed("toy:fill=0.125,rebuild=999.999",
                  HEAD "scale=15:25,sizes=1:2,fill=0.125,rebuild=999.999,lists=auto,probes=auto");
    check_printed("toy:rebuild=10,fill=0.101",
                  HEAD "scale=15:25,sizes=1:2,fill=0.101,rebuild=10,lists=auto,probes=auto");
#undef HEAD
}

/* Commas end a text only where another option follows. */
static void reads_texts(void **state)
{
    char text[KR_SPEC_NBYTES], shortest[KR_SPEC_NBYTES];
    kr_spec spec = parsed("toy:lists=a+b,c,fill=1");
    (void)state;
    assert_true(spec.options[LISTS] == 1 && spec.options[FILL] == 1000);
    assert_string_equal(spec.text, "a+b,c");
    assert_int_equal(kr_spec_format_short(&spec, shortest, sizeof shortest, NULL), KR_OK);
    assert_string_equal(shortest, "toy:fill=1,lists=a+b,c");
    spec = parsed("toy:lists=a+b,c");
    assert_string_equal(spec.text, "a+b,c");
    spec = parsed("toy:fill=1,lists=none");
    assert_true(spec.options[LISTS] == -2);
    assert_string_equal(spec.text, "");
    assert_int_equal(kr_spec_format_short(&spec, shortest, sizeof shortest, NULL), KR_OK);
    assert_string_equal(shortest, "toy:fill=1,lists=none");
    check_printed("toy:lists=x",
                  "toy:mode=narrow,bits=23:23:18,factor=0,parts=1:1:1,scale=15:25,sizes=1:2,fill=0.5,"
                  "rebuild=auto,lists=x,probes=auto");
    snprintf(text, sizeof text, "toy:lists=%0*d", KR_SPEC_TEXT_NBYTES - 1, 5);
    assert_int_equal(strlen(parsed(text).text), KR_SPEC_TEXT_NBYTES - 1);
    snprintf(text, sizeof text, "toy:lists=%0*d", KR_SPEC_TEXT_NBYTES, 5);
    refuse(text, "'lists' is a text of at most 239 characters", "or one of auto|none");
    refuse("toy:lists=", "'lists' is a text", "not ''");
    refuse("toy:lists=a,lists=b", "'lists'", "twice");
    refuse("toy:fill=1,a", "no option 'a'", "lists");
}

static void knows_what_was_given(void **state)
{
    (void)state;
    assert_int_equal(parsed("toy").given, 0);
    assert_int_equal(parsed("toy:probes=auto").given, 1u << OPTIONS);
    assert_int_equal(parsed("toy:bits=23:23:18").given, 1u << BITS);
    assert_int_equal(parsed("toy:parts=1:1:1,probes=sorted,mode=narrow").given,
                     1u << PARTS | 1u << MODE | 1u << OPTIONS);
}

static void settles(void **state)
{
    (void)state;
    assert_true(parsed("toy:factor=3").options[FACTOR] == 3);
    assert_true(parsed("toy:mode=wide").options[FACTOR] == 7);
    assert_true(parsed("toy:factor=7,mode=wide").options[FACTOR] == 7);
    refuse("toy:mode=wide,factor=3", "mode=wide", "factor=7");
    refuse("toy:factor=0,mode=wide", "mode=wide", "factor=7");
    check_printed("toy:mode=wide", "toy:mode=wide,bits=23:23:18,factor=7,parts=1:1:1" REST ",probes=auto");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_triples),
        cmocka_unit_test(prints_triples),
        cmocka_unit_test(refuses_triples),
        cmocka_unit_test(knows_what_was_given),
        cmocka_unit_test(reads_pairs),
        cmocka_unit_test(refuses_pairs),
        cmocka_unit_test(reads_decimals),
        cmocka_unit_test(refuses_decimals),
        cmocka_unit_test(prints_pairs_and_decimals),
        cmocka_unit_test(reads_texts),
        cmocka_unit_test(settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
