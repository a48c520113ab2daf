/* Columns of texts as the texts themselves: kr_file_options.texts. */
#include "files.h"

static kr_file *must_spell(const char *source)
{
    const kr_file_options options = {.struct_size = sizeof options, .texts = 1};
    kr_error err = {0};
    kr_file *file = NULL;
    if (kr_file_read(in_folder(source), &options, NULL, &file, &err) != KR_OK)
        fail_msg("%s: %s", source, err.text);
    return file;
}

/* NULL: the row is NULL. */
static void must_spell_rows(const kr_file *file, const char *const *texts, uint64_t n)
{
    const kr_column *column = kr_file_column(file);
    const int64_t *offsets = column->data;
    const char *bytes = (const char *)(uintptr_t)column->reserved_words[0];
    assert_int_equal(column->type, KR_LARGE_STRING);
    assert_int_equal(column->count, n);
    assert_int_equal(column->dictionary, 0);
    assert_int_equal(column->reserved_words[1], offsets[n]);
    for (uint64_t i = 0; i < n; i++) {
        const bool valid = !column->validity || (column->validity[i / 8] >> (i % 8) & 1);
        const size_t nbytes = (size_t)(offsets[i + 1] - offsets[i]);
        assert_int_equal(valid, texts[i] != NULL);
        assert_int_equal(nbytes, texts[i] ? strlen(texts[i]) : 0);
        assert_memory_equal(bytes + offsets[i], texts[i] ? texts[i] : "", nbytes);
    }
}

static void texts_in_the_place_of_codes(void **state)
{
    (void)state;
    static const char *const all[] = {"pear", "a,b", NULL, "pear", ""}, *const words[] = {"b", NULL, "pear"};
    kr_error err = {0};
    kr_file *list = NULL;
    put_text("a.csv", "s,i\npear,1\n\"a,b\",2\n,3\npear,4\nz,5\n");
    kr_file *file = must_spell("a.csv:s"), *codes = must_read("a.csv:s"), *numbers = must_spell("a.csv:i");
    const char *const expected[] = {all[0], all[1], all[2], all[3], "z"};
    must_spell_rows(file, expected, 5);
    assert_int_equal(kr_file_is_text(file), 1);
    assert_null(kr_file_string(file, 0, NULL));
    assert_int_equal(kr_file_is_text(numbers), 0);
    assert_int_equal(kr_file_column(numbers)->type, KR_I64);
    /* Lists are as the column is; columns of texts compare with each other, not with codes or numbers. */
    assert_int_equal(kr_file_literals("b,NULL,'pear'", file, &list, &err), KR_OK);
    must_spell_rows(list, words, 3);
    assert_int_equal(kr_file_convert(list, file, &err), KR_OK);
    must_spell_rows(list, words, 3);
    assert_int_equal(kr_file_convert(list, codes, &err), KR_ERR_TYPE);
    assert_non_null(strstr(err.text, "kr_file_options.texts"));
    assert_int_equal(kr_file_convert(codes, list, &err), KR_ERR_TYPE);
    assert_int_equal(kr_file_convert(list, numbers, &err), KR_ERR_TYPE);
    assert_int_equal(kr_file_convert(numbers, list, &err), KR_ERR_TYPE);
    kr_file_close(list);
    kr_file_close(numbers);
    kr_file_close(codes);
    kr_file_close(file);
    put_text("a.csv", "s\n");
    file = must_spell("a.csv:s:str");
    must_spell_rows(file, NULL, 0);
    kr_file_close(file);
    const kr_file_options wrong = {.struct_size = sizeof wrong, .texts = 2};
    file = NULL;
    assert_int_equal(kr_file_read(in_folder("a.csv:s"), &wrong, NULL, &file, &err), KR_ERR_ARGUMENT);
    assert_null(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_in_the_place_of_codes)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
