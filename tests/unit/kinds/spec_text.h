/* What the tests of spec strings ask of every kind. Included after cmocka. */
#ifndef KEYRAY_TESTS_UNIT_CORE_SPEC_TEXT_H
#define KEYRAY_TESTS_UNIT_CORE_SPEC_TEXT_H

static inline kr_spec parsed(const char *text)
{
    kr_error err = {0};
    kr_spec spec = {0};
    if (kr_spec_parse(text, &spec, &err))
        fail_msg("'%s': %s", text, err.text);
    return spec;
}

/* Refused with a text of one line that has both words; nothing is written. */
static inline void refuse(const char *text, const char *first, const char *second)
{
    kr_error err = {0};
    kr_spec spec = {.kind = NULL, .options = {12345}};
    assert_int_equal(kr_spec_parse(text, &spec, &err), KR_ERR_SPEC);
    assert_int_equal(err.status, KR_ERR_SPEC);
    if (!strstr(err.text, first) || !strstr(err.text, second) || strchr(err.text, '\n'))
        fail_msg("'%s': the error does not name '%s' and '%s': %s", text, first, second, err.text);
    assert_true(spec.kind == NULL && spec.options[0] == 12345);
    assert_int_equal(kr_spec_parse(text, &spec, NULL), KR_ERR_SPEC);
}

#endif
