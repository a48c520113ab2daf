/* Spec strings: defaults, every way to be wrong and what the error lists, the printed form. */
#include "index/kinds/spec.h"
#include "index/kinds/family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spec_text.h"

static int64_t own_option(const kr_spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->kind->n_options; ++i)
        if (strcmp(spec->kind->options[i].name, name) == 0)
            return spec->options[i];
    fail_msg("no option %s", name);
    return 0;
}

static void fills_in_defaults(void **state)
{
    (void)state;
    for (uint32_t i = 0; kr_kind_at(i); ++i) {
        const kr_kind *kind = kr_kind_at(i);
        const kr_spec spec = parsed(kind->name);
        assert_ptr_equal(spec.kind, kr_kind_at(i));
        for (uint32_t k = 0; k < kind->n_options; ++k)
            assert_true(spec.options[k] == kind->options[k].standard);
        for (uint32_t k = 0; kind->family && k < KR_COMMON_COUNT; ++k)
            assert_true(spec.common[k] == kr_common_options[k].standard);
    }
}

static void sets_options(void **state)
{
    (void)state;
    kr_spec spec = parsed("array:layout=aos,k=7,probes=sorted");
    assert_true(own_option(&spec, "layout") == 1);
    assert_true(own_option(&spec, "k") == 7);
    assert_true(spec.common[KR_COMMON_PROBES] == KR_PROBES_SORTED);
    spec = parsed("array:probes=as-is");
    assert_true(own_option(&spec, "layout") == 0);
    assert_true(spec.common[KR_COMMON_PROBES] == KR_PROBES_AS_IS);
}

/* Numbers that the option's value is packed of. */
static int parts_of(const kr_option *option)
{
    return option->form == KR_OPTION_TRIPLE ? 3 : option->form == KR_OPTION_PAIR ? 2 : 1;
}

static void check_option(const kr_option *option)
{
    const int parts = parts_of(option);
    int64_t n = option->choices ? 1 : 0;
    assert_non_null(option->help);
    for (const char *at = option->choices ? option->choices : ""; *at; ++at)
        n += *at == '|';
    const int is_word =
        (option->form == KR_OPTION_DECIMAL || option->form == KR_OPTION_TEXT) && option->standard < 0;
    for (int i = 0; i < parts; ++i) {
        const int64_t standard = parts > 1 ? kr_option_triple_part(option->standard, i) : option->standard;
        assert_true(is_word || (option->minimum <= standard && standard <= option->maximum));
    }
    if (parts > 1 || option->form == KR_OPTION_DECIMAL)
        assert_true(option->minimum >= 0);
    if (parts > 1)
        assert_true(option->maximum <= 255);
    if (option->form == KR_OPTION_PAIR && n)
        assert_true(strcmp(option->choices, "on|off") == 0 && option->minimum == 0);
    if (is_word)
        assert_true(-option->standard <= n);
    if (option->form == KR_OPTION_TEXT)
        assert_true(option->maximum < KR_SPEC_TEXT_NBYTES);
    if (option->form == KR_OPTION_CHOICE)
        assert_true(option->minimum == 0 && option->maximum == n - 1);
}

/* The tables for parsing specs are consistent. */
static void has_sound_tables(void **state)
{
    (void)state;
    for (uint32_t i = 0; kr_kind_at(i); ++i) {
        const kr_kind *kind = kr_kind_at(i);
        assert_true(kind->n_options <= KR_SPEC_OPTIONS);
        for (uint32_t k = 0; k < kind->n_options; ++k)
            check_option(&kind->options[k]);
    }
}

static size_t longest_word(const char *words)
{
    size_t longest = 0;
    for (const char *at = words; *at; at += *at == '|') {
        const size_t length = strcspn(at, "|");
        longest = length > longest ? length : longest;
        at += length;
    }
    return longest;
}

/* Characters of ",name=value", at most. */
static size_t longest_setting(const kr_option *option)
{
    char text[96];
    size_t longest = option->choices ? longest_word(option->choices) : 0;
    const int64_t extreme =
        option->form == KR_OPTION_INTEGER && option->minimum < 0 ? option->minimum : option->maximum;
    size_t n = (size_t)snprintf(text, sizeof text, "%lld", (long long)extreme);
    if (option->form == KR_OPTION_DECIMAL)
        n += 1; /* the point */
    n = n * (size_t)parts_of(option) + (size_t)parts_of(option) - 1;
    if (option->form == KR_OPTION_TEXT)
        n = (size_t)option->maximum;
    if (option->form != KR_OPTION_CHOICE && n > longest)
        longest = n;
    return 2 + strlen(option->name) + longest;
}

static void fits_every_spec(void **state)
{
    (void)state;
    for (uint32_t i = 0; kr_kind_at(i); ++i) {
        const kr_kind *kind = kr_kind_at(i);
        size_t nbytes = strlen(kind->name) + 1;
        for (uint32_t k = 0; k < kind->n_options; ++k)
            nbytes += longest_setting(&kind->options[k]);
        for (uint32_t k = 0; k < KR_COMMON_COUNT; ++k)
            nbytes += longest_setting(&kr_common_options[k]);
        if (nbytes > KR_SPEC_NBYTES)
            fail_msg("a spec of '%s' may take %zu bytes", kind->name, nbytes);
    }
}

/* Refused with KR_ERR_SPEC, in a line that names `first` and `second`; the output stays as it was. */
static void refuses_kinds(void **state)
{
    kr_error err = {0};
    kr_spec spec;
    (void)state;
    refuse("", "''", "array");
    refuse("arra", "arra", "array");
    refuse("arrays", "arrays", "array");
    refuse("Array", "Array", "array");
    refuse(" array", " array", "array");
    refuse("array ", "array ", "array");
    refuse(":layout=aos", "''", "array");
    refuse("array,layout=aos", "array,layout=aos", "array");
    assert_int_equal(kr_spec_parse(NULL, &spec, &err), KR_ERR_ARGUMENT);
    /* All of them are listed. */
    for (uint32_t i = 0; kr_kind_at(i); ++i)
        refuse("none-such", "none-such", kr_kind_at(i)->name);
}

static void refuses_options(void **state)
{
    (void)state;
    refuse("array:colour=red", "colour", "shared, k");
    refuse("array:colour=red", "array", "probes");
    refuse("array:layou=aos", "layou", "layout");
    refuse("array:=aos", "''", "layout");
    refuse("array:layout", "layout", "needs a value");
    refuse("array:k", "k", "needs a value");
    refuse("array:layout=aos,layout=aos", "layout", "twice");
    refuse("array:probes=auto,probes=sorted", "probes", "twice");
    refuse("array:", "array:", "ends where an option is expected");
    refuse("array:k=2,", "array:k=2,", "ends where an option is expected");
    refuse("array:,k=2", "''", "layout");
    refuse("array: k=2", " k", "layout");
}

static void refuses_values(void **state)
{
    static const char *const numbers[] = {
        "array:k=",    "array:k=1",   "array:k=34",
        "array:k=-2",  "array:k=+2",  "array:k= 2",
        "array:k=2 ",  "array:k=2x",  "array:k=0x2",
        "array:k=2.",  "array:k=\t2", "array:k=99999999999999999999",
        "array:k=two", "array:k=2=2", "array:k=00000000000000000000000000002"};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        refuse(numbers[i], "'k'", "from 2 to 33");
    refuse("array:layout=", "layout", "soa|aos");
    refuse("array:layout=AOS", "AOS", "soa|aos");
    refuse("array:layout=soa|aos", "layout", "soa|aos");
    refuse("array:layout=0", "layout", "soa|aos");
    refuse("array:probes=random", "random", "as-is|sorted|partitioned|auto");
}

/* How lookups are launched by default. */
#define LAUNCH                                                                                  \
    "keep=device,scan_threads=many,schedule=dynamic,threads=256,per_thread=1,group=1,pin=none," \
    "reorder=none,ends=search,shared=96,"

static void check_printed(const char *text, const char *want)
{
    char printed[KR_SPEC_NBYTES] = "";
    kr_error err = {0};
    assert_int_equal(kr_spec_complete(text, printed, sizeof printed, &err), KR_OK);
    assert_string_equal(printed, want);
}

static void prints_every_option(void **state)
{
    char tight[160] = "as it was";
    kr_error err = {0};
    const char *whole = "array:layout=soa," LAUNCH "k=2,probes=auto";
    (void)state;
    check_printed("array", whole);
    check_printed(whole, whole);
    check_printed("array:probes=sorted,k=33,layout=aos", "array:layout=aos," LAUNCH "k=33,probes=sorted");
    check_printed("array:k=02", whole);
    assert_int_equal(kr_spec_complete("array", tight, strlen(whole), &err), KR_ERR_LIMIT);
    assert_string_equal(tight, "as it was");
    assert_int_equal(kr_spec_complete("array", tight, 0, &err), KR_ERR_LIMIT);
    assert_int_equal(kr_spec_complete("array", tight, strlen(whole) + 1, &err), KR_OK);
    assert_string_equal(tight, whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_defaults),   cmocka_unit_test(sets_options),
        cmocka_unit_test(has_sound_tables),    cmocka_unit_test(refuses_kinds),
        cmocka_unit_test(refuses_options),     cmocka_unit_test(refuses_values),
        cmocka_unit_test(prints_every_option), cmocka_unit_test(fits_every_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
