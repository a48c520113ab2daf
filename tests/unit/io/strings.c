#include "files.h"

static void codes_are_in_byte_order(void **state)
{
    (void)state;
    static const char *const sorted[] = {"A",        "AUTOMOBILE",   "AUTOMOBILES", "B",        "a",
                                         "abcdefgh", "abcdefgh\x01", "abcdefghi",   "abcdefgz", "\xc3\xa9"};
    enum { N = sizeof sorted / sizeof *sorted };
    FILE *out = fopen(in_folder("s.tbl"), "wb");
    assert_non_null(out);
    for (unsigned i = 0; i < 3 * N; i++)
        fprintf(out, "%s|\n", sorted[i * 7 % N]);
    fputs("|\n", out);
    fclose(out);
    kr_file *file = must_read("s.tbl:0:str");
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->type, KR_U32);
    assert_int_equal(column->count, 3 * N + 1);
    for (uint32_t code = 0; code < N; code++) {
        size_t nbytes = 0;
        assert_string_equal(kr_file_string(file, code, &nbytes), sorted[code]);
        assert_int_equal(nbytes, strlen(sorted[code]));
    }
    for (uint32_t i = 0; i < 3 * N; i++) {
        assert_true(is_valid(column, i));
        assert_int_equal(((const uint32_t *)column->data)[i], i * 7 % N);
    }
    assert_false(is_valid(column, 3 * N));
    size_t untouched = 77;
    assert_null(kr_file_string(file, N, &untouched));
    assert_null(kr_file_string(file, UINT32_MAX, &untouched));
    assert_int_equal(untouched, 77);
    assert_null(kr_file_string(NULL, 0, &untouched));
    kr_file_close(file);
}

static void many_strings(void **state)
{
    (void)state;
    enum { N = 200000 };
    FILE *out = fopen(in_folder("m.csv"), "wb");
    assert_non_null(out);
    fputs("s\n", out);
    for (unsigned i = 0; i < 2 * N; i++)
        fprintf(out, "Customer#%09u\n", (unsigned)(i * UINT64_C(77773) % N));
    fclose(out);
    kr_file *file = must_read("m.csv:s:str");
    const uint32_t *codes = kr_file_column(file)->data;
    for (unsigned i = 0; i < 2 * N; i++)
        assert_int_equal(codes[i], (unsigned)(i * UINT64_C(77773) % N));
    assert_string_equal(kr_file_string(file, N - 1, NULL), "Customer#000199999");
    assert_null(kr_file_string(file, N, NULL));
    kr_file_close(file);
}

static void bytes_of_any_value(void **state)
{
    (void)state;
    put_bytes("z.csv", "s\na\0c\na\na\0b\n\0\n", 14);
    kr_file *file = must_read("z.csv:s:str");
    const char *const sorted[] = {"\0", "a", "a\0b", "a\0c"};
    const size_t lengths[] = {1, 1, 3, 3};
    for (uint32_t code = 0; code < 4; code++) {
        size_t nbytes = 0;
        const char *text = kr_file_string(file, code, &nbytes);
        assert_int_equal(nbytes, lengths[code]);
        assert_memory_equal(text, sorted[code], nbytes + 1);
    }
    kr_file_close(file);
}

static void only_nulls(void **state)
{
    (void)state;
    put_text("n.tbl", "|\n|\n");
    kr_file *file = must_read("n.tbl:0:str");
    assert_int_equal(kr_file_column(file)->count, 2);
    assert_false(is_valid(kr_file_column(file), 0));
    assert_false(is_valid(kr_file_column(file), 1));
    assert_null(kr_file_string(file, 0, NULL));
    kr_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_in_byte_order),
        cmocka_unit_test(many_strings),
        cmocka_unit_test(bytes_of_any_value),
        cmocka_unit_test(only_nulls),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
