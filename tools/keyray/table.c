#include "table.h"

#include "base/util/spelling.h"
#include "tools/terminal/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t table_find(const struct table *table, const char *name)
{
    uint32_t c = 0;
    while (c < table->n && strcmp(table->names[c], name) != 0)
        ++c;
    return c;
}

int table_no_column(const struct table *table, const char *name)
{
    char hint[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(name, strlen(name));
    for (uint32_t c = 0; c < table->n; ++c)
        kr_spelling_offer(&nearest, table->names[c], strlen(table->names[c]));
    return tool_fail(USAGE, "no --column is named '%s'%s", name, kr_spelling_hint(&nearest, "'", "'", hint));
}

/* Its name in the file: that of a COL, or of a name alone, both of which may have a type. */
static void name_column(const char *source, const struct column *before, char name[COLUMN_NAME_NBYTES])
{
    char whole[2 * COLUMN_NAME_NBYTES];
    const int is_name = before && !column_names_file(source);
    snprintf(whole, sizeof whole, "%s%s", is_name ? "x.csv:" : "", source);
    column_name(is_name ? whole : source, name);
}

static int load_column(struct table *table, const char *text, const kr_progress *progress)
{
    const char *equals = strchr(text, '='), *source = equals ? equals + 1 : text;
    const struct column *before = table->n ? &table->columns[table->n - 1] : NULL;
    if (equals == text || !*source)
        return tool_fail(USAGE, "--column is NAME=COL, as in day=orders.csv:day, or a COL, not '%s'", text);
    if (!before && !column_names_file(source))
        return tool_fail(
            USAGE,
            "--column %s: '%s' is not a supported column file, as in orders.csv:day; only after such a "
            "column may a name stand alone",
            text, source);
    const size_t length = equals ? (size_t)(equals - text) : COLUMN_NAME_NBYTES;
    char *name = tool_alloc(length + 1, 1, "the name of a column");
    if (!name)
        return FAILED;
    if (equals)
        snprintf(name, length + 1, "%.*s", (int)length, text);
    else
        name_column(source, before, name);
    if (!equals && strlen(name) == COLUMN_NAME_NBYTES - 1) { /* it may go on */
        const int code = tool_fail(USAGE, "column '%s...' has a long name; give a shorter one, as in NAME=%s",
                                   name, source);
        free(name);
        return code;
    }
    if (table_find(table, name) < table->n) {
        const int code = tool_fail(
            USAGE, "two columns are named '%s'; give each a name of its own, as in NAME=%s", name, source);
        free(name);
        return code;
    }
    table->names[table->n] = name;
    struct column *column = &table->columns[table->n++];
    if (table->added && strcmp(table->added, name) == 0)
        column->no_text = TABLE_NO_TEXT;
    const int code = before ? column_load_beside(column, "--column", source, before, 0, progress)
                            : column_load(column, "--column", source, progress);
    return code ? code
                : column_check_counts(&table->columns[0], &table->columns[table->n - 1],
                                      "the columns of a table must have equally many rows");
}

int table_load(struct table *table, const option_texts *columns, const kr_progress *progress)
{
    int code = DONE;
    for (uint32_t i = 0; !code && i < columns->n; ++i)
        code = load_column(table, columns->at[i], progress);
    return code;
}

/* A type that holds the values of both columns; NULL if there is none. */
static const char *common_type(const struct column *a, const struct column *b)
{
    static const char *const units[] = {[KR_UNIT_NONE] = NULL,
                                        [KR_UNIT_S] = "timestamp64[s]",
                                        [KR_UNIT_MS] = "timestamp64[ms]",
                                        [KR_UNIT_US] = "timestamp64[us]",
                                        [KR_UNIT_NS] = "timestamp64[ns]"};
    const int a_date = a->view.type == KR_DATE32, b_date = b->view.type == KR_DATE32;
    const int a_time = a_date || a->view.type == KR_TIMESTAMP64,
              b_time = b_date || b->view.type == KR_TIMESTAMP64;
    const kr_unit a_unit = kr_file_unit(a->file), b_unit = kr_file_unit(b->file);
    const int has_real = a->view.type == KR_F32 || a->view.type == KR_F64 || b->view.type == KR_F32 ||
                         b->view.type == KR_F64 || a->view.type == KR_U64 || b->view.type == KR_U64;
    if (column_is_text(a) || column_is_text(b) || a_time != b_time)
        return NULL;
    if (!a_time)
        return has_real ? "f64" : "i64";
    if ((!a_date && !a_unit) || (!b_date && !b_unit))
        return NULL;
    return units[a_unit > b_unit ? a_unit : b_unit]; /* the finer one; dates have none */
}

void table_advise_types(const struct table *table, kr_error *err)
{
    char left[COLUMN_SOURCE_NBYTES], right[COLUMN_SOURCE_NBYTES], pair[sizeof err->text];
    if (!strstr(err->text, "only columns of one type can be compared") || table->columns[0].is_saved)
        return;
    for (uint32_t a = 0; a < table->n; ++a)
        for (uint32_t b = 0; b < table->n; ++b) {
            snprintf(pair, sizeof pair, "columns '%s' and '%s'", table->names[a], table->names[b]);
            if (!strstr(err->text, pair))
                continue;
            const char *type = common_type(&table->columns[a], &table->columns[b]);
            const size_t used = strlen(err->text);
            if (type)
                snprintf(err->text + used, sizeof err->text - used, "; read them as %s=%s and %s=%s",
                         table->names[a], column_with_type(table->columns[a].source, type, left),
                         table->names[b], column_with_type(table->columns[b].source, type, right));
            return;
        }
}

/* ---- One dictionary of all text columns -------------------------------------------------------- */

/* The strings of each text column's file, one column's behind the other's. */
typedef struct strings {
    int64_t *offsets;
    char *bytes;
    uint64_t firsts[OPTION_TEXTS_MOST + 1]; /* of each column: its first string */
    uint32_t n_columns;                     /* that are text */
} strings;

static int gather(const struct table *table, strings *all)
{
    uint64_t n = 0, nbytes = 0, at = 0;
    size_t size;
    for (uint32_t c = 0; c < table->n; ++c) {
        all->firsts[c] = n;
        all->n_columns += column_is_text(&table->columns[c]) ? 1 : 0;
        for (uint32_t i = 0; kr_file_string(table->columns[c].file, i, &size); ++i, ++n)
            nbytes += size;
    }
    all->firsts[table->n] = n;
    all->offsets = tool_alloc(n + 1, sizeof *all->offsets, "the texts of a table");
    all->bytes = all->offsets ? tool_alloc(nbytes + 1, 1, "the texts of a table") : NULL;
    if (!all->bytes)
        return FAILED;
    all->offsets[0] = 0;
    for (uint32_t c = 0; c < table->n; ++c) {
        const char *text;
        for (uint32_t i = 0; (text = kr_file_string(table->columns[c].file, i, &size)); ++i, ++at) {
            memcpy(all->bytes + all->offsets[at], text, size);
            all->offsets[at + 1] = all->offsets[at] + (int64_t)size;
        }
    }
    return DONE;
}

static kr_column strings_of(const strings *all, uint64_t first, uint64_t end, uint64_t nbytes)
{
    return (kr_column){.type = KR_LARGE_STRING,
                       .count = end - first,
                       .data = all->offsets + first,
                       .reserved_words = {(uintptr_t)all->bytes, nbytes}};
}

/* Codes of the one dictionary; those of a single text column are these already, as both are in the order of
 * the bytes. */
static int recode(struct table *table, uint32_t c, const strings *all, uint64_t nbytes)
{
    const kr_column own = strings_of(all, all->firsts[c], all->firsts[c + 1], nbytes);
    kr_error err = {0};
    if (all->n_columns == 1 || !column_is_text(&table->columns[c]))
        return DONE;
    uint32_t *map = tool_alloc(own.count, sizeof *map, "codes of strings");
    if (!map)
        return FAILED;
    int code = tool_check(kr_texts_encode(table->texts, &own, map, NULL, &err), &err);
    code = code ? code : column_replace_codes(&table->columns[c], map);
    free(map);
    return code;
}

static int make_texts(struct table *table, kr_device *device)
{
    strings all = {0};
    kr_error err = {0};
    int code = gather(table, &all);
    const uint64_t n = all.firsts[table->n], nbytes = code ? 0 : (uint64_t)all.offsets[n];
    const kr_column whole = strings_of(&all, 0, n, nbytes);
    if (!code && all.n_columns)
        code = tool_check(kr_texts_create(device, &whole, NULL, NULL, &table->texts, &err), &err);
    for (uint32_t c = 0; c < table->n && !code && all.n_columns; ++c)
        code = recode(table, c, &all, nbytes);
    free(all.bytes);
    free(all.offsets);
    return code;
}

int table_make_parts(struct table *table, kr_device *device, table_parts *parts)
{
    kr_texts_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    *parts = (table_parts){.options = {.struct_size = sizeof parts->options}};
    parts->options.units = parts->units;
    parts->options.texts = parts->texts;
    if (make_texts(table, device))
        return FAILED;
    for (uint32_t c = 0; c < table->n; ++c) {
        const int is_text = column_is_text(&table->columns[c]);
        parts->views[c] = table->columns[c].view;
        parts->units[c] = kr_file_unit(table->columns[c].file);
        parts->texts[c] = is_text ? table->texts : NULL;
        parts->names[c] = table->names[c];
        if (is_text && kr_texts_query(table->texts, &info, &err) == KR_OK)
            parts->views[c].dictionary = info.dictionary;
    }
    return DONE;
}

int table_create(struct table *table, kr_device *device, const char *spec)
{
    table_parts parts;
    kr_error err = {0};
    if (table_make_parts(table, device, &parts))
        return FAILED;
    const kr_status status = kr_table_create(device, spec, parts.views, parts.names, table->n, &parts.options,
                                             NULL, &table->table, &err);
    if (status == KR_OK)
        table_phases_take(table->table, &table->phases);
    return tool_check(status, &err);
}

void table_close(struct table *table)
{
    kr_table_destroy(table->table);
    kr_texts_destroy(table->texts);
    for (uint32_t c = 0; c < table->n; ++c) {
        column_close(&table->columns[c]);
        free(table->names[c]);
    }
    memset(table, 0, sizeof *table);
}
