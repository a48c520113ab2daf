#include "column.h"

#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

column_options column_input;

const option_row column_rows[] = {
    {"nulls", 0, 0, OPTION_TEXT, offsetof(column_options, nulls), "WORDS",
     "words that are NULL in text files, unless they are quoted, as in NA,NULL; an empty field is NULL "
     "in any case [none]",
     0, 0},
    {0},
};

/* ---- Reading ------------------------------------------------------------------------------- */

int column_is_standard_input(const char *source)
{
    return source[0] == '-' && strchr(":.", source[1]);
}

/* Standard input that is a pipe becomes a file without a name, so that several columns can be read of it. */
static int keep_input(const char *source)
{
    static char bytes[1 << 16];
    if (!column_is_standard_input(source) || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
        return DONE;
    FILE *kept = tmpfile();
    ssize_t n = kept ? 1 : -1;
    while (n > 0) {
        n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n > 0 && fwrite(bytes, 1, (size_t)n, kept) != (size_t)n)
            n = -1;
    }
    const int failed =
        n < 0 || fflush(kept) != 0 || fseek(kept, 0, SEEK_SET) != 0 || dup2(fileno(kept), STDIN_FILENO) < 0;
    const int error = errno;
    if (kept)
        fclose(kept);
    return failed ? tool_fail(FAILED, "cannot keep standard input in a temporary file: %s", strerror(error))
                  : DONE;
}

/* A column that cannot be text is not to be read as text either. */
static void replace_hint(const char *no_text, kr_error *err)
{
    char *hint = strstr(err->text, "; add ':str'");
    if (no_text && hint)
        snprintf(hint, sizeof err->text - (size_t)(hint - err->text), "; %s", no_text);
}

/* A list of names where one column is expected: what to give instead. */
static void advise_one_by_one(const struct column *column, kr_error *err)
{
    const char *source = column->source, *flag = column->flag;
    const size_t path_nbytes = kr_file_path_nbytes(source), used = strlen(err->text);
    const char *comma = strchr(source + path_nbytes, ',');
    if (!column->may_repeat || !comma || !comma[1] ||
        (!strstr(err->text, " has no column ") && !strstr(err->text, " is not a type")))
        return;
    snprintf(err->text + used, sizeof err->text - used, "; give %s once for each column: %s %.*s %s %.*s:%s",
             flag, flag, (int)(comma - source), source, flag, (int)path_nbytes, source, comma + 1);
}

static void take_view(struct column *column)
{
    column->view = *kr_file_column(column->file);
    column->nulls = 0;
    for (uint64_t i = 0; column->view.validity && i < column->view.count; ++i)
        column->nulls += !column_row_is_valid(&column->view, i);
}

static kr_status try_source(struct column *column, const kr_progress *progress, const char *source,
                            kr_error *err)
{
    const kr_file_options options = {.struct_size = sizeof options, .nulls = column_input.nulls};
    const kr_status status = kr_file_read(source, &options, progress, &column->file, err);
    if (status == KR_OK) {
        take_view(column);
    } else if (err) {
        replace_hint(column->no_text, err);
        advise_one_by_one(column, err);
        tool_rename(err, "kr_file_options.nulls", "--nulls");
    }
    return status;
}

/* The exit status of what try_source returned. */
static int finish_load(const struct column *column, kr_status status, const kr_error *err)
{
    /* The name itself is wrong, as opposed to what is found behind it. */
    if (status == KR_ERR_ARGUMENT)
        return tool_fail(USAGE, "%s %s", column->flag, err->text);
    if (status == KR_OK && column->no_text && column_is_text(column))
        return tool_fail(FAILED, "%s %s is text: %s", column->flag, column->source, column->no_text);
    return tool_check(status, err);
}

int column_load(struct column *column, const char *flag, const char *source, const kr_progress *progress)
{
    kr_error err = {0};
    column->flag = flag;
    column->source = source;
    if (keep_input(source))
        return FAILED;
    return finish_load(column, try_source(column, progress, source, &err), &err);
}

/* A new text of a source's first bytes and what stands behind them; NULL after an error. */
static char *make_source(const char *source, size_t nbytes, const char *between, const char *more)
{
    const size_t all = nbytes + strlen(between) + strlen(more) + 1;
    char *made = tool_alloc(all, 1, "the name of a column");
    if (made)
        snprintf(made, all, "%.*s%s%s", (int)nbytes, source, between, more);
    return made;
}

int column_load_beside(struct column *column, const char *flag, const char *text, const struct column *beside,
                       int or_text, const kr_progress *progress)
{
    kr_error err = {0};
    const int is_name = !kr_file_path_nbytes(text);
    if (is_name && beside->is_saved)
        return tool_fail(
            USAGE,
            "%s %s is the name of a column, but %s has no values to read; give all of COL, as in "
            "orders.csv:%s",
            flag, text, beside->source, text);
    if (is_name)
        column->own_source = make_source(beside->source, kr_file_path_nbytes(beside->source), ":", text);
    if (is_name && !column->own_source)
        return FAILED;
    column->flag = flag;
    column->source = is_name ? column->own_source : text;
    if (keep_input(column->source))
        return FAILED;
    kr_status status = try_source(column, progress, column->source, &err);
    if (status == KR_ERR_FORMAT && or_text) {
        char *as_text = make_source(column->source, strlen(column->source), ":", "str");
        if (!as_text)
            return FAILED;
        /* The first error is the one to tell. */
        status = try_source(column, progress, as_text, NULL) == KR_OK ? KR_OK : status;
        free(as_text);
    }
    return finish_load(column, status, &err);
}

static int is_type(const char *text)
{
    const char *known;
    for (unsigned type = 1; kr_type_nbytes((kr_type)type) && (known = kr_type_name((kr_type)type)); ++type)
        if (strncmp(text, known, strlen(known)) == 0 && (!text[strlen(known)] || text[strlen(known)] == '['))
            return 1;
    return strcmp(text, "str") == 0;
}

/* Files of text name a column behind the path, the others a type. */
static int is_file_of_types(const char *source, size_t path_nbytes)
{
    const size_t packed = path_nbytes > 3 && memcmp(source + path_nbytes - 3, ".gz", 3) == 0 ? 3 : 0;
    const char *extension = path_nbytes > packed + 4 ? source + path_nbytes - packed - 4 : "";
    return strncmp(extension, ".npy", 4) == 0 || strncmp(extension, ".bin", 4) == 0;
}

const char *column_with_type(const char *source, const char *type, char text[COLUMN_SOURCE_NBYTES])
{
    const size_t path_nbytes = kr_file_path_nbytes(source);
    const char *colon = strrchr(source + path_nbytes, ':');
    const int has_type = colon && is_type(colon + 1) &&
                         (colon > source + path_nbytes || is_file_of_types(source, path_nbytes));
    snprintf(text, COLUMN_SOURCE_NBYTES, "%.*s:%s", has_type ? (int)(colon - source) : (int)strlen(source),
             source, type);
    return text;
}

void column_name(const char *source, char name[COLUMN_NAME_NBYTES])
{
    const size_t path_nbytes = kr_file_path_nbytes(source);
    const char *selector = source + path_nbytes + (source[path_nbytes] == ':');
    const char *colon = strrchr(selector, ':');
    size_t nbytes =
        colon && colon > selector && is_type(colon + 1) ? (size_t)(colon - selector) : strlen(selector);
    if (!nbytes || is_type(selector)) {
        const char *slash = memrchr(source, '/', path_nbytes);
        selector = slash ? slash + 1 : source;
        const char *dot = memchr(selector + 1, '.', (size_t)(source + path_nbytes - selector - 1));
        nbytes = (size_t)((dot ? dot : source + path_nbytes) - selector);
    }
    snprintf(name, COLUMN_NAME_NBYTES, "%.*s",
             nbytes < COLUMN_NAME_NBYTES ? (int)nbytes : COLUMN_NAME_NBYTES - 1, selector);
}

int column_names_file(const char *text)
{
    return text[0] != '\'' && text[0] != '"' && kr_file_path_nbytes(text) > 0;
}

static int read_values(struct column *column, const char *flag, const char *text, const struct column *keys)
{
    kr_error err = {0};
    column->flag = flag;
    column->source = text;
    const kr_status status = kr_file_literals(text, keys->file, &column->file, &err);
    if (status == KR_ERR_ARGUMENT)
        return tool_fail(USAGE, "%s %s: %s", flag, text, err.text);
    if (status)
        return tool_check(status, &err);
    take_view(column);
    return DONE;
}

int column_read_values(struct column *column, const char *flag, const char *text, const struct column *keys,
                       const char *file_flag)
{
    if (column_names_file(text))
        return tool_fail(
            USAGE,
            "%s takes values, as in 42,43; %s %s reads the column, and quotes make it a text: \"'%s'\"", flag,
            file_flag, text, text);
    return read_values(column, flag, text, keys);
}

int column_load_values(struct column *column, const char *flag, const char *source, const struct column *keys,
                       const kr_progress *progress)
{
    return column_names_file(source) ? column_load(column, flag, source, progress)
                                     : read_values(column, flag, source, keys);
}

void column_close(struct column *column)
{
    free(column->own_source);
    free(column->validity);
    free(column->codes);
    kr_file_close(column->file);
    memset(column, 0, sizeof *column);
}

int column_is_text(const struct column *column)
{
    return kr_file_is_text(column->file);
}

int column_row_is_valid(const kr_column *view, uint64_t row)
{
    const uint64_t bit = view->validity_offset + row;
    return !view->validity || (view->validity[bit / 8] >> (bit % 8) & 1);
}

int column_check_counts(const struct column *a, const struct column *b, const char *rule)
{
    if (a->view.count == b->view.count)
        return DONE;
    return tool_fail(FAILED, "%s %s has %llu rows but %s %s has %llu; %s", a->flag, a->source,
                     (unsigned long long)a->view.count, b->flag, b->source, (unsigned long long)b->view.count,
                     rule);
}

void column_print_nulls(output *out, const column_nulls *all, uint32_t n)
{
    int begun = 0;
    for (uint32_t i = 0; i < n; ++i) {
        uint64_t nulls = 0;
        int is_there = 0;
        for (uint32_t c = 0; c < all[i].n; ++c) {
            nulls += all[i].columns[c].nulls;
            is_there |= all[i].columns[c].file != NULL;
        }
        if (out->json ? !is_there : !nulls)
            continue;
        if (!begun++)
            output_begin(out, "nulls", '{');
        output_number_of(out, all[i].name, nulls);
    }
    if (begun)
        output_end(out, '}');
}

/* ---- Dictionaries -------------------------------------------------------------------------- */

/* Byte by byte: below 0, 0 or above 0. */
static int compare_strings(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
    const int order = memcmp(a, b, a_nbytes < b_nbytes ? a_nbytes : b_nbytes);
    return order ? order : (a_nbytes > b_nbytes) - (a_nbytes < b_nbytes);
}

/* Codes are below it. */
static uint32_t count_strings(const struct column *column)
{
    uint32_t n = 0;
    size_t nbytes;
    while (kr_file_string(column->file, n, &nbytes))
        n++;
    return n;
}

/* The code of a string among the n of `file`, which are in byte order; KR_NO_ROW for NULL. */
static uint32_t find_code(const kr_file *file, uint32_t n, const char *text, size_t nbytes,
                          column_absent absent)
{
    uint32_t low = 0, high = n;
    size_t there_nbytes = 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const char *there = kr_file_string(file, middle, &there_nbytes);
        if (compare_strings(there, there_nbytes, text, nbytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const char *found = low < n ? kr_file_string(file, low, &there_nbytes) : NULL;
    if (found && compare_strings(found, there_nbytes, text, nbytes) == 0)
        low += absent == NEXT_ABOVE;
    else if (absent == ABSENT_NULL)
        return KR_NO_ROW;
    else if (absent == ABSENT_BELOW)
        return low ? low - 1 : KR_NO_ROW;
    /* For a string above all others, `low` is a code that no key has, as it should be. */
    return absent != NEXT_BELOW ? low : low ? low - 1 : KR_NO_ROW;
}

int column_replace_codes(struct column *column, const uint32_t *map)
{
    const uint64_t n = column->view.count;
    const uint32_t *codes = column->view.data;
    column->codes = tool_alloc(n, sizeof *column->codes, "codes of strings");
    column->validity = column->codes ? tool_alloc(n / 8 + 1, 1, "a validity bitmap") : NULL;
    if (!column->validity)
        return FAILED;
    memset(column->validity, 0, n / 8 + 1);
    for (uint64_t i = 0; i < n; ++i) {
        const uint32_t code = column_row_is_valid(&column->view, i) ? map[codes[i]] : KR_NO_ROW;
        column->codes[i] = code == KR_NO_ROW ? 0 : code;
        column->validity[i / 8] |= (uint8_t)((code != KR_NO_ROW) << (i % 8));
    }
    column->view.data = column->codes;
    column->view.validity = column->validity;
    column->view.validity_offset = 0;
    return DONE;
}

static int match_strings(const struct column *keys, struct column *other, column_absent absent)
{
    const uint32_t n_keys = count_strings(keys), n = count_strings(other);
    uint32_t *map = tool_alloc(n, sizeof *map, "codes of strings");
    if (!map)
        return FAILED;
    for (uint32_t code = 0; code < n; ++code) {
        size_t nbytes = 0;
        const char *text = kr_file_string(other->file, code, &nbytes);
        map[code] = find_code(keys->file, n_keys, text, nbytes, absent);
    }
    const int code = column_replace_codes(other, map);
    other->view.dictionary = keys->view.dictionary;
    free(map);
    return code;
}

int column_match(const struct column *keys, struct column *other, column_absent absent)
{
    if (column_is_text(keys) && column_is_text(other))
        return match_strings(keys, other, absent);
    kr_error err = {0};
    const kr_status status = kr_file_convert(other->file, keys->file, &err);
    if (status)
        return tool_fail(FAILED, "%s %s", other->flag, err.text);
    other->view = *kr_file_column(other->file);
    return DONE;
}

/* ---- Writing ------------------------------------------------------------------------------- */

int column_check_output(const char *path, const char *rule)
{
    const size_t length = strlen(path);
    if (length < 5 || length > COLUMN_PATH_MOST - 32 || strcmp(path + length - 4, ".npy") != 0)
        return tool_fail(USAGE, "%s, not '%s'", rule, path);
    return DONE;
}

void column_name_output(char name[COLUMN_PATH_MOST], const char *path, const char *suffix)
{
    snprintf(name, COLUMN_PATH_MOST, "%.*s%s.npy", (int)strlen(path) - 4, path, suffix);
}

int column_write(const char *path, const column_file *files, uint32_t n, const kr_progress *progress)
{
    char name[COLUMN_PATH_MOST];
    kr_error err = {0};
    kr_output *outputs = NULL;
    progress_writing(1);
    kr_status status = kr_output_create(&outputs, &err);
    for (uint32_t i = 0; i < n && status == KR_OK; ++i) {
        const column_file *file = &files[i];
        column_name_output(name, path, file->suffix);
        status = kr_output_add_column(outputs, name, file->type, file->rows, file->columns, file->data,
                                      progress, &err);
    }
    if (status == KR_OK)
        status = kr_output_commit(outputs, &err);
    kr_output_destroy(outputs);
    progress_writing(0);
    return tool_check(status, &err);
}
