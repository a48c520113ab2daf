/* kr_file_empty: columns without rows that others are converted to, and what it refuses. */
#include "files.h"

static const char bytes[] = "x"
                            "\0b"
                            "ant"
                            "ant hill"
                            "\xc3\xa9";
static const uint64_t offsets[] = {1, 1, 3, 6, 14, 16}; /* "", "\0b", "ant", "ant hill", "é" */
enum { N_TEXTS = 5 };

static kr_file *made(kr_type type, kr_unit unit, const uint64_t *at, uint32_t n)
{
    kr_error err = {0};
    kr_file *file = NULL;
    if (kr_file_empty("what.krx", type, unit, bytes, at, n, &file, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kr_file_column(file)->type, type);
    assert_int_equal(kr_file_column(file)->count, 0);
    assert_null(kr_file_column(file)->validity);
    assert_int_equal(kr_file_unit(file), unit);
    assert_int_equal(kr_file_is_text(file), at != NULL);
    return file;
}

static void refuses(kr_status wanted, const char *part, kr_type type, kr_unit unit, const char *texts,
                    const uint64_t *at, uint32_t n)
{
    kr_error err = {0};
    kr_file *const untouched = (kr_file *)folder;
    kr_file *file = untouched;
    const kr_status status = kr_file_empty(NULL, type, unit, texts, at, n, &file, &err);
    if (status != wanted || !strstr(err.text, part))
        fail_msg("%s without '%s': %s", kr_status_name(status), part, err.text);
    assert_ptr_equal(file, untouched);
}

static void values_convert_to_it(void **state)
{
    (void)state;
    kr_error err = {0};
    kr_file *like = made(KR_TIMESTAMP64, KR_UNIT_MS, NULL, 0), *file = NULL;
    put_text("a.csv", "d,s\n2024-01-01,x\n");
    file = must_read("a.csv:d");
    assert_int_equal(kr_file_convert(file, like, &err), KR_OK);
    assert_int_equal(kr_file_unit(file), KR_UNIT_MS);
    assert_int_equal(*(const int64_t *)kr_file_column(file)->data, INT64_C(1704067200000));
    kr_file_close(file);
    assert_int_equal(kr_file_literals("1970-01-01 00:00:01,NULL", like, &file, &err), KR_OK);
    assert_int_equal(*(const int64_t *)kr_file_column(file)->data, 1000);
    must_have_values(file, "10");
    /* Errors name it. */
    file = must_read("a.csv:s:str");
    assert_int_equal(kr_file_convert(file, like, &err), KR_ERR_TYPE);
    assert_non_null(strstr(err.text, "does not compare with what.krx, which is timestamp64[ms]; texts"));
    /* It is converted itself, too. */
    assert_int_equal(kr_file_convert(like, file, &err), KR_ERR_TYPE);
    kr_file_close(file);
    file = must_read("a.csv:d");
    assert_int_equal(kr_file_convert(like, file, &err), KR_OK);
    assert_int_equal(kr_file_column(like)->type, KR_DATE32);
    kr_file_close(file);
    kr_file_close(like);
}

static void texts_get_its_codes(void **state)
{
    (void)state;
    kr_error err = {0};
    kr_file *like = made(KR_U32, KR_UNIT_NONE, offsets, N_TEXTS), *file = NULL;
    kr_file *other = made(KR_U32, KR_UNIT_NONE, offsets, N_TEXTS);
    assert_int_not_equal(kr_file_column(like)->dictionary, 0);
    assert_int_not_equal(kr_file_column(like)->dictionary, kr_file_column(other)->dictionary);
    size_t nbytes = 7;
    assert_string_equal(kr_file_string(like, 0, &nbytes), "");
    assert_int_equal(nbytes, 0);
    assert_memory_equal(kr_file_string(like, 1, &nbytes), "\0b", 3); /* with the NUL behind it */
    assert_int_equal(nbytes, 2);
    assert_string_equal(kr_file_string(like, 2, &nbytes), "ant");
    assert_string_equal(kr_file_string(like, 3, &nbytes), "ant hill");
    assert_null(kr_file_string(like, N_TEXTS, NULL));
    assert_int_equal(kr_file_literals("é,ant,NULL", like, &file, &err), KR_OK);
    assert_int_equal(kr_file_convert(file, like, &err), KR_OK);
    const uint32_t *codes = kr_file_column(file)->data;
    assert_int_equal(codes[0], 4);
    assert_int_equal(codes[1], 2);
    assert_int_equal(kr_file_column(file)->dictionary, kr_file_column(like)->dictionary);
    kr_file_close(like); /* whose texts others keep */
    assert_string_equal(kr_file_string(file, 4, NULL), "é");
    must_have_values(file, "110");
    assert_int_equal(kr_file_literals("anteater", other, &file, &err), KR_OK);
    assert_int_equal(kr_file_convert(file, other, &err), KR_ERR_TYPE);
    assert_non_null(strstr(err.text, "'anteater', which is not among the texts of what.krx"));
    kr_file_close(file);
    kr_file_close(other);
    /* No texts at all are a dictionary, too. */
    like = made(KR_U32, KR_UNIT_NONE, (const uint64_t[]){0}, 0);
    assert_int_not_equal(kr_file_column(like)->dictionary, 0);
    assert_null(kr_file_string(like, 0, NULL));
    kr_file_close(like);
}

static void wrong_arguments(void **state)
{
    (void)state;
    kr_error err = {0};
    static const uint64_t back[] = {0, 3, 2}, longer[] = {6, 14, 14};
    refuses(KR_ERR_TYPE, "99 is not a type", (kr_type)99, KR_UNIT_NONE, bytes, NULL, 0);
    refuses(KR_ERR_TYPE, "i64 has no unit 2", KR_I64, KR_UNIT_MS, bytes, NULL, 0);
    refuses(KR_ERR_TYPE, "timestamp64 has no unit 9", KR_TIMESTAMP64, (kr_unit)9, bytes, NULL, 0);
    refuses(KR_ERR_TYPE, "codes of texts are u32, not u64", KR_U64, KR_UNIT_NONE, bytes, offsets, N_TEXTS);
    refuses(KR_ERR_ARGUMENT, "offsets is NULL", KR_U32, KR_UNIT_NONE, bytes, NULL, 1);
    refuses(KR_ERR_ARGUMENT, "bytes is NULL", KR_U32, KR_UNIT_NONE, NULL, offsets, N_TEXTS);
    refuses(KR_ERR_ARGUMENT, "text 1 ends before it begins", KR_U32, KR_UNIT_NONE, bytes, back, 2);
    refuses(KR_ERR_ARGUMENT, "text 1 is not above", KR_U32, KR_UNIT_NONE, "antant   ",
            (const uint64_t[]){0, 3, 6}, 2);
    refuses(KR_ERR_ARGUMENT, "text 1 is not above", KR_U32, KR_UNIT_NONE, "antan",
            (const uint64_t[]){0, 3, 5}, 2);
    refuses(KR_ERR_ARGUMENT, "text 1 is not above", KR_U32, KR_UNIT_NONE, bytes, longer, 2);
    refuses(KR_ERR_ARGUMENT, "text 2 is not above", KR_U32, KR_UNIT_NONE, "acb",
            (const uint64_t[]){0, 1, 2, 3}, 3);
    assert_int_equal(kr_file_empty("", KR_U8, KR_UNIT_NONE, NULL, NULL, 0, NULL, &err), KR_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_convert_to_it),
        cmocka_unit_test(texts_get_its_codes),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
