#include "saved.h"

#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

/* Attachments of the command: the unit of an index's keys, and their texts: their number n, n +
 * 1 offsets, from the first byte behind these on, and their bytes; numbers of 64 bits. */
#define UNIT_NAME "keyray.unit"
#define TEXTS_NAME "keyray.texts"

static const char *const units[] = {
    [KR_UNIT_NONE] = "", [KR_UNIT_S] = "s", [KR_UNIT_MS] = "ms", [KR_UNIT_US] = "us", [KR_UNIT_NS] = "ns"};

/* ---- The command line ------------------------------------------------------------------------- */

int saved_is_name(const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    return length > 4 && strcmp(text + length - 4, ".krx") == 0;
}

int saved_check(const char *index, const char *columns, int has_columns, uint32_t verify)
{
    if (!saved_is_name(index)) {
        if (!has_columns)
            return tool_fail(
                USAGE, "%s is missing; give it, or --index FILE.krx, as keyray index build saves", columns);
        if (verify != SAVED_VERIFY_UNSAID)
            return tool_fail(USAGE, "--verify needs --index FILE.krx");
        return tool_check_spec(index);
    }
    if (has_columns)
        return tool_fail(
            USAGE,
            "--index %s is built already, and has its columns; leave %s out, or give --index SPEC "
            "to build one",
            index, columns);
    return DONE;
}

int saved_check_output(const char *option, const char *path)
{
    if (saved_is_name(path))
        return DONE;
    return tool_fail(USAGE, "%s takes a name ending in .krx, not '%s'", option, path);
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static int open_as(saved_file *saved, const kr_saved_options *options)
{
    kr_error err = {0};
    saved->info.struct_size = sizeof saved->info;
    kr_status status = kr_saved_open(saved->path, options, &saved->file, &err);
    if (status == KR_OK)
        status = kr_saved_query(saved->file, &saved->info, &err);
    return tool_check(status, &err);
}

static int check_what(const saved_file *saved, kr_saved_what what)
{
    if (!what || saved->info.what == what)
        return DONE;
    return tool_fail(FAILED, "--index %s holds %s", saved->path,
                     what == KR_SAVED_INDEX ? "a table, which keyray scan searches, and not an index"
                                            : "an index, which keyray lookup searches, and not a table");
}

/* A dictionary for all columns of texts, which has no texts yet: only its number counts. */
static int find_dictionaries(saved_file *saved, uint64_t *dictionaries)
{
    const uint64_t none = 0;
    kr_error err = {0};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < saved->info.n_columns && status == KR_OK; ++i) {
        int has_texts = 0;
        status = kr_saved_column(saved->file, i, NULL, NULL, NULL, &has_texts, &err);
        if (status == KR_OK && has_texts == 1 && !saved->codes)
            status = kr_file_empty(saved->path, KR_U32, KR_UNIT_NONE, NULL, &none, 0, &saved->codes, &err);
        dictionaries[i] = has_texts == 1 && saved->codes ? kr_file_column(saved->codes)->dictionary : 0;
    }
    return tool_check(status, &err);
}

/* Which columns have texts must be known when a file is opened to be loaded. A file that is replaced in
 * between is found out by that, or is as good. */
int saved_open(saved_file *saved, const char *path, kr_saved_what what, uint32_t verify,
               const kr_progress *progress)
{
    kr_saved_options options = {.struct_size = sizeof options, .verify = KR_VERIFY_HEADER};
    saved->path = path;
    int code = open_as(saved, &options);
    if (!code)
        code = check_what(saved, what);
    if (code)
        return code;
    const uint32_t n = saved->info.n_columns;
    uint64_t *dictionaries = tool_alloc(n, sizeof *dictionaries, "columns of a file");
    code = dictionaries ? find_dictionaries(saved, dictionaries) : FAILED;
    kr_saved_close(saved->file);
    saved->file = NULL;
    options.verify = verify == KR_VERIFY_HEADER ? KR_VERIFY_HEADER : KR_VERIFY_ALL;
    options.dictionaries = dictionaries;
    options.n_dictionaries = n;
    options.progress = progress;
    if (!code)
        code = open_as(saved, &options);
    free(dictionaries);
    if (!code && (saved->info.n_columns != n || check_what(saved, what)))
        code = tool_fail(FAILED, "%s was replaced while it was opened; try again", path);
    return code;
}

void saved_close(saved_file *saved)
{
    kr_saved_close(saved->file);
    kr_file_close(saved->texts);
    kr_file_close(saved->codes);
    *saved = (saved_file){0};
}

/* ---- Columns ---------------------------------------------------------------------------------- */

static int fail_attachment(const saved_file *saved, const char *name)
{
    return tool_fail(FAILED, "%s: attachment '%s' does not hold what it should; save the index again",
                     saved->path, name);
}

int saved_unit(const saved_file *saved, uint32_t i, kr_unit *unit)
{
    uint64_t nbytes = 0;
    kr_error err = {0};
    const int code = tool_check(kr_saved_column(saved->file, i, NULL, NULL, unit, NULL, &err), &err);
    const char *text = kr_saved_attachment(saved->file, UNIT_NAME, &nbytes);
    if (code || !text || saved->info.what != KR_SAVED_INDEX)
        return code;
    for (*unit = KR_UNIT_S; *unit <= KR_UNIT_NS; ++*unit)
        if (strlen(units[*unit]) == nbytes && memcmp(units[*unit], text, nbytes) == 0)
            return DONE;
    return fail_attachment(saved, UNIT_NAME);
}

/* Where the texts are. */
typedef struct texts {
    const char *bytes;
    const uint64_t *offsets; /* n + 1 */
    uint32_t n;
} texts;

static int find_texts(const saved_file *saved, texts *found)
{
    uint64_t nbytes = 0;
    const uint64_t *words = kr_saved_attachment(saved->file, TEXTS_NAME, &nbytes);
    if (!words)
        return tool_fail(FAILED,
                         "%s has codes of texts, but not the texts: a program saved it, and only that can "
                         "search it",
                         saved->path);
    if (nbytes < 2 * sizeof *words || words[0] >= KR_NO_ROW || words[0] + 2 > nbytes / sizeof *words)
        return fail_attachment(saved, TEXTS_NAME);
    const uint64_t n = words[0], front = (n + 2) * sizeof *words;
    if (words[1] != 0 || words[n + 1] != nbytes - front)
        return fail_attachment(saved, TEXTS_NAME);
    *found = (texts){(const char *)words + front, words + 1, (uint32_t)n};
    return DONE;
}

int saved_count_texts(const saved_file *saved, uint32_t *n)
{
    texts found = {0};
    int code = DONE;
    if (kr_saved_attachment(saved->file, TEXTS_NAME, NULL))
        code = find_texts(saved, &found);
    *n = found.n;
    return code;
}

/* All texts of the file, once. */
static int load_texts(saved_file *saved)
{
    texts all = {0};
    kr_error err = {0};
    int code = saved->texts ? DONE : find_texts(saved, &all);
    if (code || saved->texts)
        return code;
    const kr_status status =
        kr_file_empty(saved->path, KR_U32, KR_UNIT_NONE, all.bytes, all.offsets, all.n, &saved->texts, &err);
    return status == KR_ERR_ARGUMENT ? fail_attachment(saved, TEXTS_NAME) : tool_check(status, &err);
}

/* A column's file without rows, which shares the texts; those of a table are in the table. */
static int make_file(saved_file *saved, kr_type type, kr_unit unit, int has_texts, kr_file **file)
{
    const uint64_t none = 0;
    kr_error err = {0};
    const int code = has_texts == 1 ? load_texts(saved) : DONE;
    if (code)
        return code;
    kr_status status = kr_file_empty(saved->path, type, unit, NULL, has_texts ? &none : NULL, 0, file, &err);
    if (status == KR_ERR_TYPE)
        return fail_attachment(saved, UNIT_NAME);
    if (status == KR_OK && has_texts == 1)
        status = kr_file_convert(*file, saved->texts, &err);
    return tool_check(status, &err);
}

int saved_column(saved_file *saved, uint32_t i, struct column *column)
{
    kr_error err = {0};
    kr_type type = KR_U32;
    kr_unit unit = KR_UNIT_NONE;
    int has_texts = 0;
    int code = tool_check(kr_saved_column(saved->file, i, NULL, &type, NULL, &has_texts, &err), &err);
    if (!code)
        code = saved_unit(saved, i, &unit);
    if (!code)
        code = make_file(saved, has_texts ? KR_U32 : type, unit, has_texts, &column->file);
    if (code)
        return code;
    column->flag = "--index";
    column->source = saved->path;
    column->is_saved = 1;
    column->view = *kr_file_column(column->file);
    column->view.count = saved->info.next_row;
    column->view.dictionary = has_texts == 1 && saved->codes ? kr_file_column(saved->codes)->dictionary : 0;
    if (has_texts && column->no_text)
        return tool_fail(FAILED, "--index %s has texts: %s", saved->path, column->no_text);
    return DONE;
}

int saved_load_index(const saved_file *saved, kr_device *device, kr_index **index)
{
    kr_error err = {0};
    return tool_check(kr_index_load(device, saved->file, NULL, index, &err), &err);
}

static int add_column(saved_file *saved, struct table *table)
{
    const uint32_t c = table->n++;
    struct column *column = &table->columns[c];
    const char *name = "";
    kr_error err = {0};
    int code = tool_check(kr_saved_column(saved->file, c, &name, NULL, NULL, NULL, &err), &err);
    if (code)
        return code;
    table->names[c] = tool_alloc(strlen(name) + 1, 1, "the name of a column");
    if (!table->names[c])
        return FAILED;
    strcpy(table->names[c], name);
    if (table->added && strcmp(name, table->added) == 0)
        column->no_text = TABLE_NO_TEXT;
    return saved_column(saved, c, column);
}

int saved_table(saved_file *saved, struct table *table)
{
    const uint32_t n = saved->info.n_columns;
    int code = DONE;
    if (n > OPTION_TEXTS_MOST)
        return tool_fail(FAILED, "%s has %u columns; the command takes tables of %d at most", saved->path, n,
                         OPTION_TEXTS_MOST);
    while (table->n < n && !code)
        code = add_column(saved, table);
    return code;
}

int saved_load_table(const saved_file *saved, kr_device *device, struct table *table)
{
    kr_error err = {0};
    const kr_status status = kr_table_load(device, saved->file, NULL, NULL, &table->table, &err);
    if (status == KR_OK)
        table_phases_take(table->table, &table->phases);
    return tool_check(status, &err);
}

/* ---- Saving ----------------------------------------------------------------------------------- */

/* All texts as an attachment, whose data the caller frees. */
static int make_texts(const kr_file *file, kr_attachment *made)
{
    size_t nbytes = 0;
    uint64_t n = 0, all = 0;
    for (; kr_file_string(file, (uint32_t)n, &nbytes); ++n)
        all += nbytes;
    uint64_t *words = tool_alloc((n + 2) * sizeof *words + all, 1, "the texts of a file");
    if (!words)
        return FAILED;
    char *bytes = (char *)(words + n + 2);
    words[0] = n;
    words[1] = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const char *text = kr_file_string(file, i, &nbytes);
        memcpy(bytes + words[i + 1], text, nbytes);
        words[i + 2] = words[i + 1] + nbytes;
    }
    *made = (kr_attachment){TEXTS_NAME, words, (n + 2) * sizeof *words + all};
    return DONE;
}

/* What is saved: one of both. */
typedef struct saved_thing {
    const kr_index *index;
    const kr_table *table;
} saved_thing;

static int write_with(saved_thing thing, const kr_attachment *attachments, uint32_t n, const char *path,
                      const kr_progress *progress)
{
    const kr_save_options options = {
        .struct_size = sizeof options, .attachments = attachments, .n_attachments = n};
    kr_error err = {0};
    progress_writing(1);
    const kr_status status = thing.index ? kr_index_save(thing.index, path, &options, progress, &err)
                                         : kr_table_save(thing.table, path, &options, progress, &err);
    progress_writing(0);
    return tool_check(status, &err);
}

/* With the attachments of another file. */
static int write_as(saved_thing thing, const saved_file *from, const char *path, const kr_progress *progress)
{
    const uint32_t n = from->info.n_attachments;
    kr_attachment *all = tool_alloc(n, sizeof *all, "attachments of a file");
    if (!all)
        return FAILED;
    for (uint32_t i = 0; i < n; ++i) {
        all[i].name = kr_saved_attachment_name(from->file, i);
        all[i].data = kr_saved_attachment(from->file, all[i].name, &all[i].nbytes);
    }
    const int code = write_with(thing, all, n, path, progress);
    free(all);
    return code;
}

int saved_write_index(const kr_index *index, const struct column *keys, const saved_file *from,
                      const char *path, const kr_progress *progress)
{
    const saved_thing thing = {.index = index};
    const kr_unit unit = kr_file_unit(keys->file);
    kr_attachment all[2] = {{0}};
    uint32_t n = 0;
    if (from->file)
        return write_as(thing, from, path, progress);
    if (unit != KR_UNIT_NONE)
        all[n++] = (kr_attachment){UNIT_NAME, units[unit], strlen(units[unit])};
    if (!column_is_text(keys))
        return write_with(thing, all, n, path, progress);
    int code = make_texts(keys->file, &all[n]);
    if (!code)
        code = write_with(thing, all, n + 1, path, progress);
    free((void *)all[n].data);
    return code;
}

int saved_write_table(const struct table *table, const char *path, const kr_progress *progress)
{
    const saved_thing thing = {.table = table->table};
    return write_with(thing, NULL, 0, path, progress);
}
