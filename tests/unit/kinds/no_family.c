/* A kind without a family, as scans over tables will be: it has specs and options, and makes no index. */
#include "index/kinds/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const kr_kind scan = {.name = "scan", .summary = "a scan", .source = "this test"};

/* In place of the list of kinds. */
const kr_kind *kr_kind_at(uint32_t ordinal)
{
    return ordinal == 0 ? &scan : NULL;
}

const char *kr_kind_left_out_at(uint32_t ordinal)
{
    (void)ordinal;
    return NULL;
}

static void makes_no_index(void **state)
{
    kr_spec spec;
    kr_error err = {0};
    char text[KR_SPEC_NBYTES];
    (void)state;
    if (kr_spec_parse("scan", &spec, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kr_spec_format(&spec, text, sizeof text, &err), KR_OK);
    assert_string_equal(text, "scan");
    assert_int_equal(kr_spec_parse("scan:probes=sorted", &spec, &err), KR_ERR_SPEC); /* of indexes only */
    assert_int_equal(kr_choose(NULL, "scan", &spec, NULL, &err), KR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "kind 'scan' makes no index"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(makes_no_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
