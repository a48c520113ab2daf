#include "files.h"

#include <sys/stat.h>

static void raw_files(void **state)
{
    (void)state;
    const uint64_t words[] = {1, UINT64_MAX, 0x123456789abcdef0};
    put_bytes("a.bin", words, sizeof words);
    for (unsigned type = KR_U8; type <= KR_TIMESTAMP64; type++) {
        char source[32];
        snprintf(source, sizeof source, "a.bin:%s", kr_type_name((kr_type)type));
        must_hold(source, (kr_type)type, sizeof words / kr_type_nbytes((kr_type)type), words);
    }
    put_bytes("a.bin", words, 7);
    must_hold("a.bin:u8", KR_U8, 7, words);
    must_fail("a.bin:u16", KR_ERR_FORMAT, "a.bin\t7 bytes\t2 of a u16");
    must_fail("a.bin:f64", KR_ERR_FORMAT, "a.bin\t7 bytes\t8 of a f64");
    put_bytes("a.bin", "", 0);
    must_hold("a.bin:timestamp64", KR_TIMESTAMP64, 0, words);
    static const char *const selectors[] = {"a.bin",     "a.bin:",      "a.bin:u33",
                                            "a.bin:str", "a.bin:u8:u8", "a.bin:U8"};
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++)
        must_fail(selectors[i], KR_ERR_ARGUMENT, "a.bin needs a type\tu8 i8\ttimestamp64");
}

static void paths_with_colons(void **state)
{
    (void)state;
    put_text("a:b.csv", "x:y,u8,v.csv\n1,2,3\n");
    must_hold("a:b.csv:x:y", KR_I64, 1, (const int64_t[]){1});
    must_hold("a:b.csv:x:y:u8", KR_U8, 1, (const uint8_t[]){1});
    must_hold("a:b.csv:u8", KR_I64, 1, (const int64_t[]){2});
    must_hold("a:b.csv:u8:u8", KR_U8, 1, (const uint8_t[]){2});
    put_text("a.csv:b.csv", "x\n1\n");
    must_hold("a.csv:b.csv:x", KR_I64, 1, (const int64_t[]){1});
    put_text("a.csv.tbl", "5|\n");
    must_hold("a.csv.tbl:0", KR_I64, 1, (const int64_t[]){5});
}

static void sources_that_name_nothing(void **state)
{
    (void)state;
    static const char *const sources[] = {"", "a", "a.txt", "a.csvx:name", "csv:name", "a.parquet:x"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        must_fail(sources[i], KR_ERR_ARGUMENT, "names no column file\tFILE.npy");
    put_text("a.npy", "");
    must_fail("a.npy:u9", KR_ERR_ARGUMENT, "a.npy takes only a type after it, not 'u9'");
    kr_error err;
    kr_file *file = NULL;
    assert_int_equal(kr_file_read(NULL, NULL, NULL, &file, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_read("a.npy", NULL, NULL, NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_read("", NULL, NULL, &file, NULL), KR_ERR_ARGUMENT);
    assert_null(kr_file_column(NULL));
    kr_file_close(NULL);
}

static void paths_of_sources(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        size_t nbytes;
    } cases[] = {{"a.npy", 5},      {"a.csv:x", 5}, {"a:b.csv:x:y", 7}, {"a.csv.gz:x", 8},  {"a.CSV:", 5},
                 {"-", 1},          {"-:x", 1},     {"-.csv:x", 5},     {"-.npy.gz", 8},    {"42,43", 0},
                 {"2024-01-01", 0}, {"", 0},        {"-5", 0},          {"a.csvx:name", 0}, {"csv", 0},
                 {"12:30:00.5", 0}, {"a.csv,b", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(kr_file_path_nbytes(cases[i].source), cases[i].nbytes);
    assert_int_equal(kr_file_path_nbytes(NULL), 0);
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const names[] = {"m.npy", "m.csv:x", "m.tbl:0", "m.bin:u8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[8];
        snprintf(name, sizeof name, "%.5s", names[i]);
        must_fail(names[i], KR_ERR_IO, "cannot open\tNo such file");
        assert_int_equal(mkdir(in_folder(name), 0777), 0);
        must_fail(names[i], KR_ERR_IO, "cannot read\ta directory");
        assert_int_equal(rmdir(in_folder(name)), 0);
        assert_int_equal(mkfifo(in_folder(name), 0666), 0);
        must_fail(names[i], KR_ERR_IO, "cannot read\tnot a regular file");
        assert_int_equal(unlink(in_folder(name)), 0);
        put_text(name, "secret");
        assert_int_equal(chmod(in_folder(name), 0), 0);
        if (access(in_folder(name), R_OK) != 0)
            must_fail(names[i], KR_ERR_IO, "cannot open\tPermission denied");
        else if (i == 0)
            print_message("this user may read every file: permissions were not tested\n");
        assert_int_equal(unlink(in_folder(name)), 0);
    }
}

static void long_and_odd_paths_stay_one_line(void **state)
{
    (void)state;
    char name[500];
    memset(name, 'x', sizeof name);
    strcpy(name + sizeof name - 12, "the\nend.xyz");
    must_fail(name, KR_ERR_ARGUMENT, "...xxx\tthe?end.xyz");
    strcpy(name + sizeof name - 14, "the\nend.csv:x");
    must_fail(name, KR_ERR_IO, "cannot open ...xxx\tthe?end.csv");
}

/* ---- Progress ------------------------------------------------------------------------------ */

struct watch {
    unsigned calls, stop_at; /* stop_at 0: never */
    double last;
    const char *truncate;
};

static int watching(void *ctx, const char *phase, double fraction)
{
    struct watch *watch = ctx;
    assert_string_equal(phase, "reading");
    assert_true(fraction >= watch->last && fraction <= 1);
    watch->last = fraction;
    if (watch->truncate && watch->calls == 0)
        assert_int_equal(truncate(watch->truncate, 5000000), 0);
    return ++watch->calls == watch->stop_at;
}

static const char *const big_sources[] = {"big.npy",       "big.csv:1",   "big.csv:1:str", "big.tbl:0",
                                          "big.tbl:0:u32", "big.bin:u64", "day.npy"};

/* Files of 12 MB and more, several chunks each. */
static void put_big(const char *source)
{
    enum { NBYTES = 12000000 };
    char name[8];
    snprintf(name, sizeof name, "%.7s", source);
    char *text = malloc(NBYTES);
    for (size_t i = 0; i < NBYTES; i += 4)
        memcpy(text + i, strstr(name, ".tbl") ? "11|\n" : "111\n", 4);
    memcpy(text, strstr(name, ".csv") ? "1\n1\n" : text, 4);
    kr_error err;
    if (strcmp(name, "big.npy") == 0)
        assert_int_equal(kr_file_write(in_folder(name), KR_U8, NBYTES, 1, text, NULL, &err), KR_OK);
    else if (strcmp(name, "day.npy") == 0)
        assert_int_equal(kr_file_write(in_folder(name), KR_DATE32, NBYTES / 4, 1, text, NULL, &err), KR_OK);
    else
        put_bytes(name, text, NBYTES);
    free(text);
}

static void progress_and_cancel(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof big_sources / sizeof *big_sources; i++) {
        put_big(big_sources[i]);
        struct watch watch = {0};
        kr_progress progress = {watching, &watch};
        kr_error err;
        kr_file *file = NULL;
        assert_int_equal(kr_file_read(in_folder(big_sources[i]), NULL, &progress, &file, &err), KR_OK);
        assert_true(watch.calls >= 3 && watch.last == 1);
        kr_file_close(file);
        file = NULL;
        const unsigned calls = watch.calls;
        for (unsigned stop_at = 1; stop_at <= calls; stop_at++) {
            watch = (struct watch){.stop_at = stop_at};
            assert_int_equal(kr_file_read(in_folder(big_sources[i]), NULL, &progress, &file, &err),
                             KR_ERR_CANCELLED);
            assert_null(file);
            assert_int_equal(watch.calls, stop_at);
        }
    }
}

static void files_that_shrink(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof big_sources / sizeof *big_sources; i++) {
        put_big(big_sources[i]);
        char path[800];
        snprintf(path, sizeof path, "%s/%.7s", folder, big_sources[i]);
        struct watch watch = {.truncate = path};
        kr_progress progress = {watching, &watch};
        kr_error err;
        kr_file *file = NULL;
        assert_int_equal(kr_file_read(in_folder(big_sources[i]), NULL, &progress, &file, &err), KR_ERR_IO);
        assert_non_null(strstr(err.text, "became shorter"));
        assert_non_null(strstr(err.text, "5000000 of"));
        assert_null(file);
    }
}

static void files_that_vanish(void **state)
{
    (void)state;
    put_text("gone.csv", "x\n1\n");
    kr_file *file = must_read("gone.csv:x");
    assert_int_equal(unlink(in_folder("gone.csv")), 0);
    assert_int_equal(((const int64_t *)kr_file_column(file)->data)[0], 1);
    kr_file_close(file);
    must_fail("gone.csv:x", KR_ERR_IO, "gone.csv\tNo such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_files),
        cmocka_unit_test(paths_with_colons),
        cmocka_unit_test(sources_that_name_nothing),
        cmocka_unit_test(paths_of_sources),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(long_and_odd_paths_stay_one_line),
        cmocka_unit_test(progress_and_cancel),
        cmocka_unit_test(files_that_shrink),
        cmocka_unit_test(files_that_vanish),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
