#include "files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void must_be_text(const char *name, const char *text)
{
    char got[64] = "";
    FILE *in = fopen(in_folder(name), "r");
    assert_non_null(in);
    assert_int_equal(fread(got, 1, sizeof got - 1, in), strlen(text));
    fclose(in);
    assert_string_equal(got, text);
}

/* Every byte of a written file. */
static void must_be(const char *name, const char *header, const void *data, size_t nbytes)
{
    unsigned char got[1024];
    FILE *in = fopen(in_folder(name), "rb");
    assert_non_null(in);
    size_t n = fread(got, 1, sizeof got, in);
    fclose(in);
    assert_memory_equal(got, "\x93NUMPY\x01\x00", 8);
    size_t length = got[8] | (size_t)got[9] << 8;
    assert_int_equal((10 + length) % 64, 0);
    assert_int_equal(n, 10 + length + nbytes);
    assert_memory_equal(got + 10, header, strlen(header));
    for (size_t i = 10 + strlen(header); i + 1 < 10 + length; i++)
        assert_int_equal(got[i], ' ');
    assert_int_equal(got[10 + length - 1], '\n');
    assert_memory_equal(got + 10 + length, data, nbytes);
}

static void every_type(void **state)
{
    (void)state;
    static const struct {
        kr_type type;
        const char *dtype;
    } types[] = {
        {KR_U8, "|u1"},  {KR_I8, "|i1"},  {KR_U16, "<u2"},         {KR_I16, "<i2"},
        {KR_U32, "<u4"}, {KR_I32, "<i4"}, {KR_U64, "<u8"},         {KR_I64, "<i8"},
        {KR_F32, "<f4"}, {KR_F64, "<f8"}, {KR_TIMESTAMP64, "<i8"},
    };
    unsigned char data[48];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 91 + 7);
    kr_error err;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char header[128];
        uint32_t each = kr_type_nbytes(types[i].type);
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (6,), }",
                 types[i].dtype);
        assert_int_equal(kr_file_write(in_folder("o.npy"), types[i].type, 6, 1, data, NULL, &err), KR_OK);
        must_be("o.npy", header, data, 6 * each);
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }",
                 types[i].dtype);
        assert_int_equal(kr_file_write(in_folder("o.npy"), types[i].type, 2, 3, data, NULL, &err), KR_OK);
        must_be("o.npy", header, data, 6 * each);
        if (types[i].type != KR_TIMESTAMP64) {
            assert_int_equal(kr_file_write(in_folder("o.npy"), types[i].type, 6, 1, data, NULL, &err), KR_OK);
            must_hold("o.npy", types[i].type, 6, data);
        }
    }
    assert_int_equal(count_files(), 1);
}

static void dates_are_datetime64(void **state)
{
    (void)state;
    const int32_t days[] = {0, -1, INT32_MAX, INT32_MIN};
    const int64_t wide[] = {0, -1, INT32_MAX, INT32_MIN};
    assert_int_equal(kr_file_write(in_folder("o.npy"), KR_DATE32, 4, 1, days, NULL, NULL), KR_OK);
    must_be("o.npy", "{'descr': '<M8[D]', 'fortran_order': False, 'shape': (4,), }", wide, sizeof wide);
    must_hold("o.npy", KR_DATE32, 4, days);
}

static void nothing_to_write(void **state)
{
    (void)state;
    assert_int_equal(kr_file_write(in_folder("o.npy"), KR_U32, 0, 1, NULL, NULL, NULL), KR_OK);
    must_be("o.npy", "{'descr': '<u4', 'fortran_order': False, 'shape': (0,), }", "", 0);
    assert_int_equal(kr_file_write(in_folder("o.npy"), KR_U32, 0, 2, NULL, NULL, NULL), KR_OK);
    must_be("o.npy", "{'descr': '<u4', 'fortran_order': False, 'shape': (0, 2), }", "", 0);
}

static void wrong_calls(void **state)
{
    (void)state;
    kr_error err;
    unsigned before = count_files();
    const char *path = in_folder("wrong.npy");
    assert_int_equal(kr_file_write(NULL, KR_U8, 1, 1, "x", NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_write("", KR_U8, 1, 1, "x", NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_write(path, KR_U8, 1, 1, NULL, NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_write(path, KR_U8, 1, 0, "x", NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_write(path, (kr_type)0, 1, 1, "x", NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_write(path, (kr_type)99, 1, 1, "x", NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_write(path, KR_U64, UINT64_MAX, UINT32_MAX, "x", NULL, &err), KR_ERR_LIMIT);
    assert_int_equal(count_files(), before);
}

static void must_refuse(const char *name, const char *part)
{
    kr_error err;
    assert_int_equal(kr_file_write(in_folder(name), KR_U8, 1, 1, "x", NULL, &err), KR_ERR_IO);
    if (!strstr(err.text, part) || !strstr(err.text, "cannot write"))
        fail_msg("no '%s' in: %s", part, err.text);
}

static void places_that_cannot_be_written(void **state)
{
    (void)state;
    unsigned before = count_files();
    must_refuse("no/such/folder.npy", "No such file");
    assert_int_equal(mkdir(in_folder("d.npy"), 0777), 0);
    must_refuse("d.npy", "a directory");
    assert_int_equal(rmdir(in_folder("d.npy")), 0);
    assert_int_equal(mkfifo(in_folder("p.npy"), 0666), 0);
    must_refuse("p.npy", "not a regular file");
    assert_int_equal(unlink(in_folder("p.npy")), 0);
    assert_int_equal(symlink("/dev/null", in_folder("null.npy")), 0);
    must_refuse("null.npy", "not a regular file");
    assert_int_equal(unlink(in_folder("null.npy")), 0);
    assert_int_equal(count_files(), before);
}

static void links_are_followed(void **state)
{
    (void)state;
    put_text("target.npy", "old");
    assert_int_equal(symlink("target.npy", in_folder("link.npy")), 0);
    assert_int_equal(kr_file_write(in_folder("link.npy"), KR_U8, 1, 1, "x", NULL, NULL), KR_OK);
    must_hold("target.npy", KR_U8, 1, "x");
    struct stat status;
    assert_int_equal(lstat(in_folder("link.npy"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

/* A link to a file that is not there yet, through a folder and another link. */
static void dangling_links_are_followed(void **state)
{
    struct stat status;
    (void)state;
    assert_int_equal(symlink("second.npy", in_folder("first.npy")), 0);
    assert_int_equal(symlink(in_folder("target.npy"), in_folder("second.npy")), 0);
    assert_int_equal(kr_file_write(in_folder("first.npy"), KR_U8, 1, 1, "x", NULL, NULL), KR_OK);
    must_hold("target.npy", KR_U8, 1, "x");
    assert_int_equal(lstat(in_folder("first.npy"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat(in_folder("second.npy"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(symlink("loop.npy", in_folder("loop.npy")), 0);
    must_refuse("loop.npy", "links");
}

static void permissions_come_from_the_umask(void **state)
{
    (void)state;
    static const mode_t masks[] = {022, 077, 0};
    mode_t before = umask(0);
    for (int i = 0; i < 3; i++) {
        umask(masks[i]);
        struct stat status;
        assert_int_equal(kr_file_write(in_folder("o.npy"), KR_U8, 1, 1, "x", NULL, NULL), KR_OK);
        assert_int_equal(stat(in_folder("o.npy"), &status), 0);
        assert_int_equal(status.st_mode & 0777, 0666 & ~masks[i]);
        assert_int_equal(umask(masks[i]), masks[i]);
        assert_int_equal(unlink(in_folder("o.npy")), 0);
    }
    umask(before);
}

static void permissions_stay_with_a_replaced_file(void **state)
{
    static const mode_t modes[] = {0600, 0640, 0666, 0400};
    struct stat status;
    (void)state;
    for (int i = 0; i < 4; i++) {
        put_text("o.npy", "old");
        assert_int_equal(chmod(in_folder("o.npy"), modes[i]), 0);
        assert_int_equal(kr_file_write(in_folder("o.npy"), KR_U8, 1, 1, "x", NULL, NULL), KR_OK);
        assert_int_equal(stat(in_folder("o.npy"), &status), 0);
        assert_int_equal(status.st_mode & 0777, modes[i]);
        must_hold("o.npy", KR_U8, 1, "x");
        assert_int_equal(unlink(in_folder("o.npy")), 0);
    }
}

/* ---- Several files ------------------------------------------------------------------------- */

static void files_appear_together(void **state)
{
    kr_output *output = NULL;
    (void)state;
    assert_int_equal(kr_output_create(&output, NULL), KR_OK);
    put_text("b.npy", "old");
    assert_int_equal(kr_output_add_column(output, in_folder("a.npy"), KR_U8, 1, 1, "x", NULL, NULL), KR_OK);
    assert_int_equal(kr_output_add_column(output, in_folder("b.npy"), KR_U8, 1, 1, "y", NULL, NULL), KR_OK);
    assert_int_equal(kr_output_add_bytes(output, in_folder("c.txt"), "text", 4, NULL, NULL), KR_OK);
    assert_int_equal(access(in_folder("a.npy"), F_OK), -1);
    assert_int_equal(kr_output_commit(output, NULL), KR_OK);
    kr_output_destroy(output);
    must_hold("a.npy", KR_U8, 1, "x");
    must_hold("b.npy", KR_U8, 1, "y");
    char text[8] = "";
    FILE *file = fopen(in_folder("c.txt"), "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text, file), 4);
    fclose(file);
    assert_string_equal(text, "text");
    assert_int_equal(count_files(), 3);
}

/* The second file cannot be written: the first stays as it was. */
static void files_fail_together(void **state)
{
    kr_output *output = NULL;
    kr_error err = {0};
    (void)state;
    put_text("a.npy", "old");
    assert_int_equal(kr_output_create(&output, NULL), KR_OK);
    assert_int_equal(kr_output_add_column(output, in_folder("a.npy"), KR_U8, 1, 1, "x", NULL, NULL), KR_OK);
    assert_int_equal(kr_output_add_column(output, in_folder("no/b.npy"), KR_U8, 1, 1, "y", NULL, &err),
                     KR_ERR_IO);
    kr_output_destroy(output);
    must_be_text("a.npy", "old");
    assert_int_equal(count_files(), 1);
}

/* A target became a folder meanwhile, so its rename fails: those before it are put back. */
static void renames_are_undone(void **state)
{
    static const char *const names[] = {"a.npy", "b.npy", "c.npy"};
    (void)state;
    put_text("a.npy", "old a");
    put_text("c.npy", "old c");
    for (int blocked = 0; blocked < 3; ++blocked) {
        kr_output *output = NULL;
        kr_error err = {0};
        char saved[16] = "";
        assert_int_equal(kr_output_create(&output, NULL), KR_OK);
        for (int i = 0; i < 3; ++i)
            assert_int_equal(kr_output_add_column(output, in_folder(names[i]), KR_U8, 1, 1, "x", NULL, NULL),
                             KR_OK);
        snprintf(saved, sizeof saved, "saved-%d", blocked);
        (void)rename(in_folder(names[blocked]), in_folder(saved));
        assert_int_equal(mkdir(in_folder(names[blocked]), 0700), 0);
        assert_int_equal(kr_output_commit(output, &err), KR_ERR_IO);
        kr_output_destroy(output);
        assert_int_equal(rmdir(in_folder(names[blocked])), 0);
        (void)rename(in_folder(saved), in_folder(names[blocked]));
        must_be_text("a.npy", "old a");
        must_be_text("c.npy", "old c");
        assert_int_equal(access(in_folder("b.npy"), F_OK), -1);
        assert_int_equal(count_files(), 2);
    }
}

/* Pieces of a file: those of a text, three bytes at a time, and where the calls fail. */
struct pieces {
    const char *text;
    size_t position;
    int calls, failing_call; /* -1: none */
    double shown;            /* what progress said last */
};

static kr_status next_piece(void *ctx, const void **data, uint64_t *nbytes, double *fraction, kr_error *err)
{
    struct pieces *pieces = ctx;
    const size_t all = strlen(pieces->text), left = all - pieces->position;
    if (pieces->calls++ == pieces->failing_call) {
        err->status = KR_ERR_LIMIT;
        return KR_ERR_LIMIT;
    }
    assert_true(*fraction == 0);
    *data = pieces->text + pieces->position;
    *nbytes = left < 3 ? left : 3;
    pieces->position += *nbytes;
    *fraction = (double)pieces->position / (double)all;
    return KR_OK;
}

static int watch_pieces(void *ctx, const char *phase, double fraction)
{
    struct pieces *pieces = ctx;
    (void)phase;
    assert_true(fraction >= pieces->shown && fraction <= 1);
    pieces->shown = fraction;
    return 0;
}

static void files_come_in_pieces(void **state)
{
    kr_error err = {0};
    kr_output *output = NULL;
    struct pieces pieces = {.text = "eight by", .failing_call = -1};
    const kr_progress progress = {.call = watch_pieces, .ctx = &pieces};
    (void)state;
    assert_int_equal(kr_output_create(&output, NULL), KR_OK);
    assert_int_equal(kr_output_add_pieces(output, in_folder("a.txt"), next_piece, &pieces, &progress, &err),
                     KR_OK);
    assert_int_equal(pieces.calls, 4);
    assert_true(pieces.shown == 1);
    pieces = (struct pieces){.text = "", .failing_call = -1};
    assert_int_equal(kr_output_add_pieces(output, in_folder("b.txt"), next_piece, &pieces, NULL, &err),
                     KR_OK);
    assert_int_equal(kr_output_commit(output, NULL), KR_OK);
    kr_output_destroy(output);
    must_be_text("a.txt", "eight by");
    must_be_text("b.txt", "");
    for (int call = 0; call < 4; ++call) {
        pieces = (struct pieces){.text = "other by", .failing_call = call};
        assert_int_equal(kr_output_create(&output, NULL), KR_OK);
        assert_int_equal(kr_output_add_pieces(output, in_folder("a.txt"), next_piece, &pieces, NULL, &err),
                         KR_ERR_LIMIT);
        assert_int_equal(pieces.calls, call + 1);
        assert_int_equal(kr_output_commit(output, &err), KR_ERR_ARGUMENT);
        kr_output_destroy(output);
        must_be_text("a.txt", "eight by");
        assert_int_equal(count_files(), 2);
    }
}

static int stop_at_once(void *ctx, const char *phase, double fraction)
{
    (void)ctx, (void)phase, (void)fraction;
    return 1;
}

static void outputs_refuse_misuse(void **state)
{
    kr_output *output = NULL;
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_output_create(NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_commit(NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_add_bytes(NULL, "x", "x", 1, NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_add_column(NULL, "x", KR_U8, 1, 1, "x", NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_create(&output, NULL), KR_OK);
    assert_int_equal(kr_output_add_bytes(output, NULL, "x", 1, NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_add_bytes(output, in_folder("x"), NULL, 1, NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_add_bytes(output, "/dev/full", "x", 1, NULL, &err), KR_ERR_IO);
    struct pieces pieces = {.text = "x", .failing_call = -1};
    assert_int_equal(kr_output_add_pieces(NULL, "x", next_piece, &pieces, NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_add_pieces(output, "", next_piece, &pieces, NULL, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_add_pieces(output, in_folder("x"), NULL, &pieces, NULL, &err),
                     KR_ERR_ARGUMENT);
    assert_int_equal(kr_output_add_pieces(output, "/dev/full", next_piece, &pieces, NULL, &err), KR_ERR_IO);
    assert_int_equal(pieces.calls, 0);
    kr_output_destroy(output);
    kr_output_destroy(NULL);
    /* What an add did not finish is not renamed, and nothing is renamed twice. */
    kr_progress stop = {.call = stop_at_once};
    put_text("a.npy", "old");
    assert_int_equal(kr_output_create(&output, NULL), KR_OK);
    assert_int_equal(kr_output_add_bytes(output, in_folder("a.npy"), "x", 1, &stop, &err), KR_ERR_CANCELLED);
    assert_int_equal(kr_output_commit(output, &err), KR_ERR_ARGUMENT);
    kr_output_destroy(output);
    must_be_text("a.npy", "old");
    assert_int_equal(kr_output_create(&output, NULL), KR_OK);
    assert_int_equal(kr_output_add_bytes(output, in_folder("a.npy"), "x", 1, NULL, &err), KR_OK);
    assert_int_equal(kr_output_commit(output, &err), KR_OK);
    assert_int_equal(kr_output_commit(output, &err), KR_ERR_ARGUMENT);
    kr_output_destroy(output);
    must_be_text("a.npy", "x");
    assert_int_equal(count_files(), 1);
}

struct watch {
    unsigned calls, stop_at;
    double last;
};

static int watching(void *ctx, const char *phase, double fraction)
{
    struct watch *watch = ctx;
    assert_string_equal(phase, "writing");
    assert_true(fraction >= watch->last && fraction <= 1);
    watch->last = fraction;
    return ++watch->calls == watch->stop_at;
}

enum { BIG_ROWS = 3000000 };

static void cancel_leaves_the_old_file(void **state)
{
    (void)state;
    int32_t *big = calloc(BIG_ROWS, sizeof *big);
    put_text("old.npy", "old");
    unsigned before = count_files();
    for (int dates = 0; dates < 2; dates++) {
        const kr_type type = dates ? KR_DATE32 : KR_I32;
        struct watch watch = {0};
        kr_progress progress = {watching, &watch};
        kr_error err;
        assert_int_equal(kr_file_write(in_folder("new.npy"), type, BIG_ROWS, 1, big, &progress, &err), KR_OK);
        assert_true(watch.calls >= 4 && watch.last == 1);
        unlink(in_folder("new.npy"));
        const unsigned calls = watch.calls;
        for (unsigned stop_at = 1; stop_at <= calls; stop_at++) {
            watch = (struct watch){.stop_at = stop_at};
            assert_int_equal(kr_file_write(in_folder("old.npy"), type, BIG_ROWS, 1, big, &progress, &err),
                             KR_ERR_CANCELLED);
            assert_int_equal(count_files(), before);
            must_fail("old.npy", KR_ERR_FORMAT, "not a .npy file");
        }
    }
    free(big);
}

static void full_disk_leaves_nothing(void **state)
{
    (void)state;
    /* A limit on the file's size fails in write as a full disk does. */
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 5000000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    int32_t *big = calloc(BIG_ROWS, sizeof *big);
    unsigned before = count_files();
    kr_error err;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    kr_status status = kr_file_write(in_folder("full.npy"), KR_I32, BIG_ROWS, 1, big, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    free(big);
    assert_int_equal(status, KR_ERR_IO);
    assert_string_equal(err.vendor_call, "write");
    assert_int_equal(count_files(), before);
}

static void names_of_full_length(void **state)
{
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    strcpy(name + 251, ".npy");
    assert_int_equal(kr_file_write(in_folder(name), KR_U8, 1, 1, "x", NULL, NULL), KR_OK);
    must_hold(name, KR_U8, 1, "x");

    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(kr_file_write("bare.npy", KR_U8, 1, 1, "y", NULL, NULL), KR_OK);
    assert_int_equal(chdir(before), 0);
    must_hold("bare.npy", KR_U8, 1, "y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(dates_are_datetime64),
        cmocka_unit_test(nothing_to_write),
        cmocka_unit_test(wrong_calls),
        cmocka_unit_test(places_that_cannot_be_written),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(permissions_come_from_the_umask),
        cmocka_unit_test(permissions_stay_with_a_replaced_file),
        cmocka_unit_test(dangling_links_are_followed),
        cmocka_unit_test(cancel_leaves_the_old_file),
        cmocka_unit_test(full_disk_leaves_nothing),
        cmocka_unit_test(names_of_full_length),
    };
    const struct CMUnitTest together[] = {
        cmocka_unit_test_setup_teardown(files_appear_together, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(files_fail_together, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(files_come_in_pieces, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(renames_are_undone, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(outputs_refuse_misuse, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(together, NULL, NULL) +
           cmocka_run_group_tests(tests, make_folder, remove_folder);
}
