#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kr_add_spec(kr_suite *suite, const char *spec)
{
    if (suite->n_specs == KR_MAX_SPECS || strlen(spec) >= KR_SPEC_NBYTES) {
        fprintf(stderr, "spec number %u is one too many, or too long: %s\n", suite->n_specs, spec);
        exit(1);
    }
    strcpy(suite->specs[suite->n_specs++], spec);
}

/* Writes "name=value" of the n-th value of an option worth trying besides its default; 0 past the last. */
static int try_setting(const kr_option *option, uint32_t n, char *text, size_t text_nbytes)
{
    const int64_t numbers[] = {option->minimum, option->minimum + 3, option->maximum};
    if (option->form == KR_OPTION_INTEGER) {
        for (uint32_t i = 0; i < 3; ++i) {
            const int repeated = i == 2 && numbers[1] == numbers[2];
            if (numbers[i] == option->standard || numbers[i] > option->maximum || repeated || n--)
                continue;
            snprintf(text, text_nbytes, "%s=%lld", option->name, (long long)numbers[i]);
            return 1;
        }
        return 0;
    }
    const char *at = option->choices;
    for (int64_t i = 0; *at; ++i) {
        const int length = (int)strcspn(at, "|");
        if (i != option->standard && n-- == 0) {
            snprintf(text, text_nbytes, "%s=%.*s", option->name, length, at);
            return 1;
        }
        at += length + (at[length] == '|');
    }
    return 0;
}

static void add_kind(kr_suite *suite, const kr_kind_info *kind)
{
    char one[64], two[64], spec[KR_SPEC_NBYTES];
    kr_add_spec(suite, kind->name);
    for (uint32_t i = 0; i < kind->n_options; ++i)
        for (uint32_t a = 0; try_setting(&kind->options[i], a, one, sizeof one); ++a) {
            snprintf(spec, sizeof spec, "%s:%s", kind->name, one);
            kr_add_spec(suite, spec);
            for (uint32_t j = i + 1; j < kind->n_options; ++j)
                for (uint32_t b = 0; try_setting(&kind->options[j], b, two, sizeof two); ++b) {
                    snprintf(spec, sizeof spec, "%s:%s,%s", kind->name, one, two);
                    kr_add_spec(suite, spec);
                }
        }
    for (uint32_t i = 0; i < kind->n_common_options; ++i)
        for (uint32_t a = 0; try_setting(&kind->common_options[i], a, one, sizeof one); ++a) {
            snprintf(spec, sizeof spec, "%s:%s", kind->name, one);
            kr_add_spec(suite, spec);
        }
}

void kr_expand_specs(kr_suite *suite)
{
    kr_kind_info kind;
    for (uint32_t i = 0; kr_kind_list(i, &kind, NULL) == KR_OK; ++i)
        add_kind(suite, &kind);
}

static int find_kind(const char *spec, kr_kind_info *kind)
{
    const size_t length = strcspn(spec, ":");
    for (uint32_t i = 0; kr_kind_list(i, kind, NULL) == KR_OK; ++i)
        if (strlen(kind->name) == length && memcmp(kind->name, spec, length) == 0)
            return 1;
    return 0;
}

uint32_t kr_spec_capabilities(const char *spec)
{
    kr_kind_info kind;
    return find_kind(spec, &kind) ? kind.capabilities : KR_CAN_POINT | KR_CAN_RANGE;
}

/* ---- Tests of the strings themselves -------------------------------------------------------- */

static void expect_refusal(kr_suite *suite, const char *spec, const char *must_name)
{
    char text[512];
    kr_error err = {0};
    const kr_status status = kr_spec_print(spec, text, sizeof text, &err);
    if (kr_test_refused(suite, KR_ERR_SPEC, status, &err, spec) && !strstr(err.text, must_name))
        kr_test_fail(suite, "%s: the error does not name '%s': %s", spec, must_name, err.text);
}

static void refuse_values(kr_suite *suite, const kr_kind_info *kind, const kr_option *option)
{
    char spec[192], named[192];
    const char *const wrong[] = {"", "what", "-9223372036854775809", "1e3", " 2"};
    snprintf(named, sizeof named, "%s", option->choices ? option->choices : option->name);
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        snprintf(spec, sizeof spec, "%s:%s=%s", kind->name, option->name, wrong[i]);
        expect_refusal(suite, spec, named);
    }
    if (option->form == KR_OPTION_INTEGER) {
        snprintf(spec, sizeof spec, "%s:%s=%lld", kind->name, option->name, (long long)option->maximum + 1);
        snprintf(named, sizeof named, "%lld", (long long)option->maximum);
        expect_refusal(suite, spec, named);
    }
    snprintf(spec, sizeof spec, "%s:%s", kind->name, option->name);
    expect_refusal(suite, spec, option->name);
}

static void test_kind(kr_suite *suite, const kr_kind_info *kind)
{
    char spec[192];
    if (!kr_test_begin(suite, "spec/%s/errors", kind->name))
        return;
    expect_refusal(suite, "no-such-kind", kind->name);
    snprintf(spec, sizeof spec, "%s:no-such-option=1", kind->name);
    for (uint32_t i = 0; i < kind->n_options; ++i)
        expect_refusal(suite, spec, kind->options[i].name);
    for (uint32_t i = 0; i < kind->n_common_options; ++i)
        expect_refusal(suite, spec, kind->common_options[i].name);
    for (uint32_t i = 0; i < kind->n_options; ++i)
        refuse_values(suite, kind, &kind->options[i]);
    for (uint32_t i = 0; i < kind->n_common_options; ++i)
        refuse_values(suite, kind, &kind->common_options[i]);
    kr_test_end(suite);
}

void kr_run_specs(kr_suite *suite)
{
    kr_kind_info kind;
    for (uint32_t i = 0; kr_kind_list(i, &kind, NULL) == KR_OK; ++i)
        test_kind(suite, &kind);
    for (uint32_t i = 0; i < suite->n_specs; ++i) {
        char once[256], twice[256];
        kr_error err = {0};
        if (!kr_test_begin(suite, "spec/%s/printed", suite->specs[i]))
            continue;
        if (kr_test_ok(suite, kr_spec_print(suite->specs[i], once, sizeof once, &err), &err, "print") &&
            kr_test_ok(suite, kr_spec_print(once, twice, sizeof twice, &err), &err, once) &&
            strcmp(once, twice) != 0)
            kr_test_fail(suite, "'%s' prints as '%s'", once, twice);
        kr_test_end(suite);
    }
}
