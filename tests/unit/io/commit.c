/* kr_output_commit on file systems that cannot give a file a second name, or cannot exchange two files: the
 * calls of the system are replaced here by ones that refuse. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int no_links, no_exchange;
static const char *blocked; /* nothing new comes in the place of this file */

int link(const char *from, const char *to)
{
    errno = EPERM;
    return no_links ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* What is put back has a name that was kept, and is not refused. */
static int is_refused(const char *from, const char *to)
{
    struct stat status;
    return blocked && strcmp(to, blocked) == 0 && stat(from, &status) == 0 && status.st_size == 3;
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
        cmocka_unit_test_setup_teardown(every_target_is_replaced, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(adds_fail_before_they_begin, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
