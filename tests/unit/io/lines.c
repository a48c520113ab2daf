/* Where lines of text files end: LF, CR LF or CR alone. */
#include "files.h"

static void lines_may_end_with_a_return(void **state)
{
    (void)state;
    put_text("a.csv", "i;s\r5;a\r-6;\"b\rc\"\r7;\"\"\"d\"\r");
    must_hold("a.csv:i", KR_I64, 3, (const int64_t[]){5, -6, 7});
    kr_file *file = must_read("a.csv:s:str");
    const uint32_t *codes = kr_file_column(file)->data;
    assert_string_equal(kr_file_string(file, codes[1], NULL), "b\rc");
    assert_string_equal(kr_file_string(file, codes[2], NULL), "\"d");
    kr_file_close(file);
    put_text("a.csv", "i\r5\r\r6"); /* in one column an empty line is NULL */
    must_have_values(must_read("a.csv:i"), "101");
    put_text("a.csv", "i,j\r5,1\r\r\r");
    must_hold("a.csv:i", KR_I64, 1, (const int64_t[]){5});
    put_text("a.csv", "i,j\n5,1\r6,2\r\n7,3\n\"8\",4\r\"9\",5\n");
    must_hold("a.csv:i", KR_I64, 5, (const int64_t[]){5, 6, 7, 8, 9});
    must_hold("a.csv:j", KR_I64, 5, (const int64_t[]){1, 2, 3, 4, 5});
    put_text("a.tbl", "1|x|\r2|y|\r\n3|z|\r");
    must_hold("a.tbl:0", KR_I64, 3, (const int64_t[]){1, 2, 3});
    put_text("a.csv", "i,j\r5,\"1\r\r\"\rx,2\r");
    must_fail("a.csv:i", KR_ERR_FORMAT, "a.csv:5: column 'i': 'x' is no number");
    put_text("a.csv", "i,j\r5,1\r6\r");
    must_fail("a.csv:i", KR_ERR_FORMAT, "a.csv:3: the row has 1 fields");
    put_text("a.csv", "i,j\r5,1\r6,\"2\"x\r");
    must_fail("a.csv:i", KR_ERR_FORMAT, "a.csv:3: byte 2 of the row\tquotes");
}

/* A file of several windows, each row with a random line end, reads as the same with LF alone. */
static void line_ends_mix_in_large_files(void **state)
{
    static const char *const ends[] = {"\n", "\r", "\r\n"};
    enum { ROWS = 700000 };
    (void)state;
    int64_t *wanted = malloc(ROWS * sizeof *wanted);
    assert_non_null(wanted);
    for (int how = 0; how < 4; how++) { /* one of them alone, or all */
        uint32_t random = 12345;
        FILE *out = fopen(in_folder("a.csv"), "wb");
        assert_non_null(out);
        fputs("i,s", out);
        fputs(ends[how % 3], out);
        for (int64_t i = 0; i < ROWS; i++) {
            random = random * 1664525 + 1013904223;
            wanted[i] = random >> (random >> 27);
            const char *text = (random >> 9) % 5 ? "text" : "\"a\rb\r\n,\"\"\n\"";
            fprintf(out, "%lld,%s%s", (long long)wanted[i], text,
                    ends[how < 3 ? how : (int)((random >> 17) % 3)]);
        }
        assert_int_equal(fclose(out), 0);
        must_hold("a.csv:i", KR_I64, ROWS, wanted);
        kr_file *file = must_read("a.csv:s:str");
        size_t nbytes = 0;
        assert_non_null(kr_file_string(file, 1, NULL));
        assert_null(kr_file_string(file, 2, NULL)); /* no other text */
        assert_string_equal(kr_file_string(file, 0, &nbytes), "a\rb\r\n,\"\n");
        assert_int_equal(nbytes, 8);
        kr_file_close(file);
    }
    free(wanted);
    unlink(in_folder("a.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_may_end_with_a_return),
        cmocka_unit_test(line_ends_mix_in_large_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
