/* kr_output_commit on file systems that cannot give a file a second name, or cannot exchange two files: the
 * calls of the system are replaced here by ones that refuse. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int no_links, no_exchange;
static const char *blocked; /* nothing new comes in the place of this file */
static const char *lost;    /* nothing old comes back to the place of this one */
static const char *stuck;   /* this one is not removed */

int link(const char *from, const char *to)
{
    errno = EPERM;
    return no_links ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* New files are those of three bytes. */
static int is_refused(const char *from, const char *to)
{
    struct stat status;
    const int is_new = stat(from, &status) == 0 && status.st_size == 3;
    const char *refused = is_new ? blocked : lost;
    return refused && strcmp(to, refused) == 0;
}

int unlink(const char *path)
{
    errno = EROFS;
    return stuck && strcmp(path, stuck) == 0 ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to)
{
    errno = EIO;
    return is_refused(from, to) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

#ifdef RENAME_EXCHANGE
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags)
{
    errno = no_exchange ? EINVAL : EIO;
    if (no_exchange || is_refused(from, to))
        return -1;
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
#endif

static void must_be_text(const char *name, const char *text)
{
    char got[64] = "";
    FILE *in = fopen(in_folder(name), "r");
    if (!in)
        fail_msg("%s is gone", name);
    (void)fread(got, 1, sizeof got - 1, in);
    fclose(in);
    assert_string_equal(got, text);
}

static ino_t inode_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(in_folder(name), &status), 0);
    return status.st_ino;
}

static kr_output *three_files(void)
{
    static const char *const names[] = {"a.csv", "b.csv", "c.csv"};
    kr_output *output = NULL;
    assert_int_equal(kr_output_create(&output, NULL), KR_OK);
    for (int i = 0; i < 3; ++i)
        assert_int_equal(kr_output_add_bytes(output, in_folder(names[i]), "new", 3, NULL, NULL), KR_OK);
    return output;
}

/* Of three files, two of which replace others, one cannot be renamed: all are as they were. */
static void every_target_stays(void **state)
{
    static const char *const names[] = {"a.csv", "b.csv", "c.csv"};
    (void)state;
    put_text("a.csv", "old a");
    put_text("c.csv", "old c");
    for (int how = 0; how < 4; ++how)
        for (int i = 0; i < 3; ++i) {
            kr_error err = {0};
            char path[800];
            kr_output *output = three_files();
            snprintf(path, sizeof path, "%s", in_folder(names[i]));
            no_links = how & 1, no_exchange = how >> 1, blocked = path;
            assert_int_equal(kr_output_commit(output, &err), KR_ERR_IO);
            assert_string_equal(err.vendor_call, "rename");
            assert_non_null(strstr(err.text, names[i]));
            kr_output_destroy(output);
            no_links = no_exchange = 0, blocked = NULL;
            must_be_text("a.csv", "old a");
            must_be_text("c.csv", "old c");
            assert_int_equal(count_files(), 2);
        }
}

/* The old file of a target that cannot be put back is where the error says. */
static void must_be_kept(const kr_error *err, const char *path, const char *text)
{
    static const char before[] = "its old content is in ";
    char cannot[900], kept[800] = "";
    snprintf(cannot, sizeof cannot, "cannot put back %s (", path);
    assert_non_null(strstr(err->text, cannot));
    const char *at = strstr(err->text, before);
    assert_non_null(at);
    at += strlen(before);
    snprintf(kept, sizeof kept, "%.*s", (int)strcspn(at, ","), at);
    assert_int_equal(strncmp(kept, folder, strlen(folder)), 0);
    must_be_text(kept + strlen(folder) + 1, text);
    assert_int_equal(remove(kept), 0);
}

/* a.csv comes first and is replaced; then c.csv cannot be, and a.csv cannot be put back. */
static void what_cannot_be_put_back_is_named(void **state)
{
    (void)state;
    for (int how = 0; how < 4; ++how) {
        kr_error err = {0};
        char a[800], c[800];
        snprintf(a, sizeof a, "%s", in_folder("a.csv"));
        snprintf(c, sizeof c, "%s", in_folder("c.csv"));
        put_text("a.csv", "old a");
        put_text("c.csv", "old c");
        kr_output *output = three_files();
        no_links = how & 1, no_exchange = how >> 1, blocked = c, lost = a;
        assert_int_equal(kr_output_commit(output, &err), KR_ERR_IO);
        no_links = no_exchange = 0, blocked = lost = NULL;
        kr_output_destroy(output);
        assert_string_equal(err.vendor_call, "rename");
        assert_int_equal(err.vendor_code, EIO);
        assert_non_null(strstr(err.text, "cannot write"));
        assert_non_null(strstr(err.text, "c.csv"));
        must_be_kept(&err, a, "old a");
        must_be_text("c.csv", "old c");
        assert_int_equal(count_files(), 2); /* a.csv is the new one */
    }
}

/* Moved aside, since it cannot be exchanged or linked, and never replaced. */
static void what_was_moved_aside_is_named(void **state)
{
    kr_error err = {0};
    char c[800];
    (void)state;
    snprintf(c, sizeof c, "%s", in_folder("c.csv"));
    put_text("c.csv", "old c");
    kr_output *output = three_files();
    no_links = no_exchange = 1, blocked = lost = c;
    assert_int_equal(kr_output_commit(output, &err), KR_ERR_IO);
    no_links = no_exchange = 0, blocked = lost = NULL;
    kr_output_destroy(output);
    must_be_kept(&err, c, "old c");
    assert_int_equal(count_files(), 0);
}

static void a_new_file_that_stays_is_named(void **state)
{
    kr_error err = {0};
    char b[800], c[800];
    (void)state;
    snprintf(b, sizeof b, "%s", in_folder("b.csv"));
    snprintf(c, sizeof c, "%s", in_folder("c.csv"));
    kr_output *output = three_files();
    blocked = c, stuck = b;
    assert_int_equal(kr_output_commit(output, &err), KR_ERR_IO);
    blocked = stuck = NULL;
    kr_output_destroy(output);
    assert_non_null(strstr(err.text, "cannot remove the new "));
    assert_non_null(strstr(err.text, "b.csv"));
    assert_int_equal(count_files(), 1);
}

/* Two names of one file, in both orders and beside a file that fails before or after them: the old file
 * stays, and with it the hard link. */
static void two_names_of_one_file(void **state)
{
    static const char *const orders[][3] = {{"a.csv", "./a.csv", "c.csv"},  {"./a.csv", "a.csv", "c.csv"},
                                            {"c.csv", "a.csv", "./a.csv"},  {"c.csv", "./a.csv", "a.csv"},
                                            {"a.csv", "c.csv", "./a.csv"},  {"a.csv", "hard.csv", "c.csv"},
                                            {"hard.csv", "a.csv", "c.csv"}, {"c.csv", "a.csv", "hard.csv"},
                                            {"soft.csv", "a.csv", "c.csv"}, {"c.csv", "soft.csv", "a.csv"}};
    char c[800], target[800];
    (void)state;
    put_text("a.csv", "old a");
    put_text("c.csv", "old c");
    snprintf(target, sizeof target, "%s", in_folder("a.csv"));
    assert_int_equal(link(target, in_folder("hard.csv")), 0);
    assert_int_equal(symlink("a.csv", in_folder("soft.csv")), 0);
    snprintf(c, sizeof c, "%s", in_folder("c.csv"));
    for (int how = 0; how < 4; ++how)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
            kr_output *output = NULL;
            kr_error err = {0};
            assert_int_equal(kr_output_create(&output, NULL), KR_OK);
            for (int at = 0; at < 3; ++at)
                assert_int_equal(kr_output_add_bytes(output, in_folder(orders[i][at]), "new", 3, NULL, NULL),
                                 KR_OK);
            no_links = how & 1, no_exchange = how >> 1, blocked = c;
            assert_int_equal(kr_output_commit(output, &err), KR_ERR_IO);
            no_links = no_exchange = 0, blocked = NULL;
            kr_output_destroy(output);
            assert_non_null(strstr(err.text, "cannot write"));
            assert_null(strstr(err.text, "put back"));
            must_be_text("a.csv", "old a");
            assert_int_equal(inode_of("a.csv"), inode_of("hard.csv"));
            assert_int_equal(inode_of("a.csv"), inode_of("soft.csv"));
            must_be_text("c.csv", "old c");
            assert_int_equal(count_files(), 4);
        }
}

static void every_target_is_replaced(void **state)
{
    (void)state;
    for (int how = 0; how < 4; ++how) {
        put_text("a.csv", "old a");
        put_text("c.csv", "old c");
        kr_output *output = three_files();
        no_links = how & 1, no_exchange = how >> 1;
        assert_int_equal(kr_output_commit(output, NULL), KR_OK);
        no_links = no_exchange = 0;
        kr_output_destroy(output);
        must_be_text("a.csv", "new");
        must_be_text("b.csv", "new");
        must_be_text("c.csv", "new");
        assert_int_equal(count_files(), 3);
    }
}

/* Files that could not even be begun: the output has none of them, and nothing is published. */
static void adds_fail_before_they_begin(void **state)
{
    kr_error err;
    (void)state;
    assert_int_equal(mkdir(in_folder("d.npy"), 0700), 0);
    char missing[800], directory[800];
    snprintf(missing, sizeof missing, "%s", in_folder("no/b.npy"));
    snprintf(directory, sizeof directory, "%s", in_folder("d.npy"));
    const char *const places[] = {missing, directory, "/dev/null", ""};
    for (int i = 0; i < 4; ++i)
        for (int call = 0; call < 2; ++call) {
            kr_output *output = NULL;
            assert_int_equal(kr_output_create(&output, NULL), KR_OK);
            assert_int_equal(kr_output_add_bytes(output, in_folder("a.npy"), "new", 3, NULL, NULL), KR_OK);
            const kr_status status =
                call ? kr_output_add_column(output, places[i], KR_U8, 1, 1, "x", NULL, &err)
                     : kr_output_add_bytes(output, places[i], "x", 1, NULL, &err);
            assert_int_equal(status, *places[i] ? KR_ERR_IO : KR_ERR_ARGUMENT);
            assert_int_equal(kr_output_commit(output, &err), KR_ERR_ARGUMENT);
            assert_non_null(strstr(err.text, *places[i] ? places[i] : "without a name"));
            kr_output_destroy(output);
            assert_int_equal(count_files(), 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_target_stays, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_cannot_be_put_back_is_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_was_moved_aside_is_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_new_file_that_stays_is_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(two_names_of_one_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(every_target_is_replaced, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(adds_fail_before_they_begin, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
