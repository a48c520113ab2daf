/* Files in the test's own folder, and checks of what kr_file_read makes of them. */
#ifndef KEYRAY_TESTS_UNIT_IO_FILES_H
#define KEYRAY_TESTS_UNIT_IO_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <keyray/keyray.h>

static char folder[256];

static inline int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/keyray-io-XXXXXX", base && *base ? base : P_tmpdir);
    return mkdtemp(folder) ? 0 : -1;
}

static inline unsigned count_files(void)
{
    unsigned n = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (struct dirent *entry; (entry = readdir(opened));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(opened);
    return n;
}

static inline int remove_folder(void **state)
{
    (void)state;
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened && (entry = readdir(opened));) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(path);
    }
    if (opened)
        closedir(opened);
    return rmdir(folder);
}

/* "name" in the folder; good until the next call but three. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][800];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void put_bytes(const char *name, const void *data, size_t nbytes)
{
    FILE *out = fopen(in_folder(name), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, nbytes, out), nbytes);
    assert_int_equal(fclose(out), 0);
}

static inline void put_text(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static inline kr_file *must_read(const char *source)
{
    kr_error err = {0};
    kr_file *file = NULL;
    if (kr_file_read(in_folder(source), NULL, NULL, &file, &err) != KR_OK)
        fail_msg("%s: %s", source, err.text);
    assert_non_null(file);
    return file;
}

/* Expects that status, one line, nothing written, and every part of `parts` (separated by '\t') in it. */
static inline void must_fail(const char *source, kr_status wanted, const char *parts)
{
    kr_error err = {0};
    kr_file *const untouched = (kr_file *)folder;
    kr_file *file = untouched;
    kr_status status = kr_file_read(in_folder(source), NULL, NULL, &file, &err);
    if (status != wanted)
        fail_msg("%s: %s instead of %s: %s", source, kr_status_name(status), kr_status_name(wanted),
                 err.text);
    assert_ptr_equal(file, untouched);
    assert_int_equal(err.status, wanted);
    assert_null(strchr(err.text, '\n'));
    char copy[512];
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *rest = copy, *part; (part = strsep(&rest, "\t"));)
        if (!strstr(err.text, part))
            fail_msg("%s: no '%s' in: %s", source, part, err.text);
}

static inline bool is_valid(const kr_column *column, uint64_t row)
{
    return !column->validity || (column->validity[row / 8] >> (row % 8) & 1);
}

/* Expects a column of that type without NULL and with those elements. */
static inline void must_hold(const char *source, kr_type type, uint64_t count, const void *elements)
{
    kr_file *file = must_read(source);
    const kr_column *column = kr_file_column(file);
    assert_string_equal(kr_type_name(column->type), kr_type_name(type));
    assert_int_equal(column->count, count);
    assert_null(column->validity);
    assert_int_equal(column->reserved, 0);
    if (memcmp(column->data, elements, count * kr_type_nbytes(type)) != 0)
        fail_msg("%s holds other elements", source);
    kr_file_close(file);
}

/* Which rows are not NULL, as "1010"; closes the file. */
static inline void must_have_values(kr_file *file, const char *wanted)
{
    char got[32] = "";
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->count, strlen(wanted));
    for (uint64_t i = 0; i < column->count; i++)
        got[i] = is_valid(column, i) ? '1' : '0';
    assert_string_equal(got, wanted);
    kr_file_close(file);
}

#endif
