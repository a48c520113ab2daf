#include "io/io.h"

#include "base/util/error.h"
#include "base/util/rounding.h"
#include "base/util/structs.h"
#include "base/values/values.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FORMAT_NPY, FORMAT_CSV }; /* as below */

/* A new format needs a reader and a line here. */
static const struct format {
    const char *extension;
    kr_status (*read)(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err);
} formats[] = {
    {".npy", kr_read_npy}, {".csv", kr_read_csv}, {".tsv", kr_read_tsv},
    {".tbl", kr_read_tbl}, {".bin", kr_read_bin},
};

/* A source taken apart. */
struct parts {
    const struct format *format;
    size_t path_nbytes;
    const char *selector; /* behind the ':' */
    bool gzip;
};

static bool ends_path(const char *at)
{
    return *at == '\0' || *at == ':';
}

/* The path ends with the last known extension before a ':' or the end of the source. So a path may contain
 * colons, and so may the name of a CSV column. "-" alone is standard input as .csv. */
static bool split_source(const char *source, struct parts *parts)
{
    const char *end = NULL;
    *parts = (struct parts){0};
    for (const char *dot = source + strlen(source); dot-- > source + 1 && !end;)
        for (size_t i = 0; i < sizeof formats / sizeof *formats && !end; i++) {
            size_t n = strlen(formats[i].extension);
            if (strncasecmp(dot, formats[i].extension, n) != 0)
                continue;
            parts->gzip = strncasecmp(dot + n, ".gz", 3) == 0 && ends_path(dot + n + 3);
            parts->format = &formats[i];
            if (parts->gzip || ends_path(dot + n))
                end = dot + n + (parts->gzip ? 3 : 0);
        }
    if (!end && *source == '-' && ends_path(source + 1)) {
        parts->format = &formats[FORMAT_CSV];
        parts->gzip = false;
        end = source + 1;
    }
    if (!end)
        return false;
    const size_t standard = strlen("-") + strlen(parts->format->extension) + (parts->gzip ? 3 : 0);
    parts->path_nbytes = (size_t)(end - source);
    if (*source == '-' && parts->path_nbytes == standard)
        parts->path_nbytes = 1;
    parts->selector = end + (*end == ':');
    return true;
}

static kr_status read_path(const struct parts *parts, const char *source, const char *path,
                           const kr_file_options *how, const kr_progress *progress, kr_file **file,
                           kr_error *err)
{
    struct kr_input input;
    kr_status status = kr_input_open(&input, path, parts->gzip, progress, err);
    if (status != KR_OK)
        return status;
    input.nulls = how->nulls;
    kr_file *result = kr_host_calloc(1, sizeof *result, "a column file", err);
    if (result)
        kr_io_show(result->name, source, strlen(source));
    status = result ? parts->format->read(&input, parts->selector, result, err) : KR_ERR_HOST_MEMORY;
    if (status == KR_OK) {
        result->column.data = result->data;
        result->column.validity = result->validity;
    }
    if (status == KR_OK && how->texts && result->dictionary)
        status = kr_file_spell(result, err);
    if (status == KR_OK) {
        *file = result;
    } else {
        kr_file_close(result);
    }
    kr_input_close(&input);
    return status;
}

kr_status kr_file_read(const char *source, const kr_file_options *options, const kr_progress *progress,
                       kr_file **file, kr_error *err)
{
    kr_file_options how = {0};
    if (!source || !file)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_read: %s is NULL", source ? "file" : "source");
    kr_status status = kr_progress_check(progress, "kr_file_read: progress", err);
    if (status == KR_OK && options)
        status = kr_struct_read(&kr_struct_file_options, options, &how, err);
    if (status == KR_OK && (how.texts > 1 || how.reserved))
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_file_options.%s must be 0%s; zero the struct first",
                         how.texts > 1 ? "texts" : "reserved", how.texts > 1 ? " or 1" : "");
    if (status != KR_OK)
        return status;
    char shown[KR_IO_SHOWN_NBYTES];
    struct parts parts;
    kr_io_show(shown, source, strlen(source));
    if (!split_source(source, &parts))
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "%s is not a supported column file; give FILE.npy, FILE.csv:NAME, FILE.tsv:NAME, FILE.tbl:NUMBER "
            "or FILE.bin:TYPE, each also packed as in FILE.csv.gz:NAME, or -:NAME for standard input",
            shown);

    char *path = kr_host_calloc(parts.path_nbytes + 1, 1, "a path", err);
    if (!path)
        return KR_ERR_HOST_MEMORY;
    memcpy(path, source, parts.path_nbytes);
    kr_rounding before;
    kr_rounding_begin(&before);
    status = read_path(&parts, source, path, &how, progress, file, err);
    kr_rounding_end(&before);
    free(path);
    return status;
}

size_t kr_file_path_nbytes(const char *source)
{
    struct parts parts;
    if (!source || !split_source(source, &parts))
        return 0;
    const size_t nbytes = (size_t)(parts.selector - source);
    return nbytes - (source[nbytes - 1] == ':');
}

const kr_column *kr_file_column(const kr_file *file)
{
    return file ? &file->column : NULL;
}

kr_unit kr_file_unit(const kr_file *file)
{
    return file ? file->unit : KR_UNIT_NONE;
}

const char *kr_file_string(const kr_file *file, uint32_t code, size_t *nbytes)
{
    return file && file->dictionary ? kr_dictionary_string(file->dictionary, code, nbytes) : NULL;
}

int kr_file_is_text(const kr_file *file)
{
    return file && (file->dictionary || kr_file_is_spelled(file));
}

void kr_file_close(kr_file *file)
{
    if (!file)
        return;
    kr_dictionary_destroy(file->dictionary);
    free(file->bytes);
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

kr_type kr_io_type_named(const char *name, kr_unit *unit)
{
    for (unsigned type = 1; kr_type_nbytes((kr_type)type); type++) /* texts are "str" */
        for (*unit = KR_UNIT_NONE; *unit <= (type == KR_TIMESTAMP64 ? KR_UNIT_NS : KR_UNIT_NONE); ++*unit) {
            char known[KR_TYPE_TEXT_NBYTES];
            if (strcmp(kr_value_type_text((kr_type)type, *unit, known), name) == 0)
                return (kr_type)type;
        }
    *unit = KR_UNIT_NONE;
    return (kr_type)0;
}
