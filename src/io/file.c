#include "io/io.h"

#include "util/error.h"
#include "util/rounding.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A new format needs a reader and a line here. */
static const struct format {
    const char *extension;
    kr_status (*read)(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err);
} formats[] = {
    {".npy", kr_read_npy},
    {".csv", kr_read_csv},
    {".tbl", kr_read_tbl},
    {".bin", kr_read_bin},
};

/* The path ends with the last known extension before a ':' or the end of the source. So a path may contain
 * colons, and so may the name of a CSV column. */
static const struct format *split_source(const char *source, size_t *path_nbytes)
{
    for (const char *dot = source + strlen(source); dot-- > source + 1;)
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            size_t n = strlen(formats[i].extension);
            if (strncasecmp(dot, formats[i].extension, n) == 0 && (dot[n] == '\0' || dot[n] == ':')) {
                *path_nbytes = (size_t)(dot - source) + n;
                return &formats[i];
            }
        }
    return NULL;
}

static kr_status read_path(const struct format *format, const char *path, const char *selector,
                           const kr_progress *progress, kr_file **file, kr_error *err)
{
    struct kr_input input;
    kr_status status = kr_input_open(&input, path, progress, err);
    if (status != KR_OK)
        return status;
    kr_file *result = kr_host_calloc(1, sizeof *result, "a column file", err);
    status = result ? format->read(&input, selector, result, err) : KR_ERR_HOST_MEMORY;
    if (status == KR_OK) {
        result->column.data = result->data;
        result->column.validity = result->validity;
        *file = result;
    } else {
        kr_file_close(result);
    }
    kr_input_close(&input);
    return status;
}

kr_status kr_file_read(const char *source, const kr_progress *progress, kr_file **file, kr_error *err)
{
    if (!source || !file)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_read: %s is NULL", source ? "file" : "source");
    kr_status status = kr_progress_check(progress, "kr_file_read: progress", err);
    if (status != KR_OK)
        return status;
    char shown[KR_IO_SHOWN_NBYTES];
    kr_io_show(shown, source, strlen(source));
    size_t path_nbytes = 0;
    const struct format *format = split_source(source, &path_nbytes);
    if (!format)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "%s names no column file; give FILE.npy, FILE.csv:NAME, FILE.tbl:NUMBER or FILE.bin:TYPE", shown);

    char *path = kr_host_calloc(path_nbytes + 1, 1, "a path", err);
    if (!path)
        return KR_ERR_HOST_MEMORY;
    memcpy(path, source, path_nbytes);
    fenv_t before;
    kr_rounding_begin(&before);
    const char *selector = source + path_nbytes + (source[path_nbytes] == ':');
    status = read_path(format, path, selector, progress, file, err);
    kr_rounding_end(&before);
    free(path);
    return status;
}

const kr_column *kr_file_column(const kr_file *file)
{
    return file ? &file->column : NULL;
}

const char *kr_file_string(const kr_file *file, uint32_t code, size_t *nbytes)
{
    return file && file->dictionary ? kr_dictionary_string(file->dictionary, code, nbytes) : NULL;
}

int kr_file_is_text(const kr_file *file)
{
    return file && file->dictionary;
}

void kr_file_close(kr_file *file)
{
    if (!file)
        return;
    kr_dictionary_destroy(file->dictionary);
    free(file->validity);
    free(file->data);
    free(file);
}

kr_status kr_file_set_null(struct kr_file *file, uint64_t row, uint64_t capacity, kr_error *err)
{
    if (!file->validity) {
        file->validity = kr_host_calloc(capacity / 8 + 1, 1, "a validity bitmap", err);
        if (!file->validity)
            return KR_ERR_HOST_MEMORY;
        memset(file->validity, 0xff, (size_t)(capacity / 8 + 1));
    }
    file->validity[row / 8] &= (uint8_t) ~(1u << (row % 8));
    return KR_OK;
}

kr_type kr_io_type_named(const char *name)
{
    const char *known;
    for (unsigned type = 1; (known = kr_type_name((kr_type)type)); type++)
        if (strcmp(known, name) == 0)
            return (kr_type)type;
    return (kr_type)0;
}
