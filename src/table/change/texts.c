/* The codes of a dictionary are positions in the order of its texts, so new texts move old codes. */
#include "table/change/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1: column c has texts for a dictionary of the table. */
static int has_texts(const kr_table *table, const kr_column *columns, uint32_t c)
{
    return table->dictionary_of[c] && kr_strings_are(columns[c].type);
}

/* 1: column c has codes of a dictionary of the table. */
static int has_codes(const kr_table *table, const kr_column *columns, uint32_t c)
{
    return table->dictionary_of[c] && !kr_strings_are(columns[c].type);
}

static void name_column(const kr_table *table, uint32_t c, char what[80])
{
    snprintf(what, 80, "column '%.40s' to append", table->names[c]);
}

/* As of the dictionary that it has now, or will have. */
static const kr_texts *later(const kr_table *table, const kr_change_texts *texts, uint32_t c)
{
    const kr_table_dictionary *dictionary = kr_table_dictionary_of(table, c);
    const kr_texts *grown = texts->grown[dictionary - table->dictionaries];
    return grown ? grown : dictionary->texts;
}

/* The dictionary of column c takes what it lacks of the new rows, whose codes in it are `codes`. */
static void grow(kr_work *work, const kr_table *table, const kr_column *columns, uint32_t c,
                 const uint32_t *codes, kr_change_texts *texts)
{
    const kr_table_dictionary *dictionary = kr_table_dictionary_of(table, c);
    kr_texts **grown = texts->grown + (dictionary - table->dictionaries);
    const uint64_t row = kr_texts_first_missing(work, later(table, texts, c)->n, columns + c, codes);
    if (!kr_work_goes_on(work) || row == UINT64_MAX)
        return;
    if (dictionary->is_shared) {
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_ARGUMENT,
                        "column '%s' to append, row %llu: this text is not in the dictionary that the table "
                        "shares (kr_table_options.texts), so nothing was appended; make a table with a "
                        "dictionary of its own, or share one that has all texts",
                        table->names[c], (unsigned long long)row));
        return;
    }
    char what[80];
    name_column(table, c, what);
    kr_texts *more = kr_texts_merge(work, *grown ? *grown : dictionary->texts, columns + c, what);
    if (!more)
        return;
    kr_texts_release(*grown, work->stream);
    *grown = more;
    texts->is_grown = 1;
}

static void find_codes(kr_work *work, const kr_table *table, const kr_column *columns, uint32_t c,
                       kr_change_texts *texts)
{
    char what[80];
    name_column(table, c, what);
    if (texts->codes[c].data)
        kr_texts_find(work, later(table, texts, c), columns + c, what, texts->codes[c].data);
}

/* Codes that the caller gives, of the dictionary as it is. */
static void take_codes(kr_work *work, const kr_table *table, const kr_column *columns, uint32_t c,
                       kr_change_texts *texts)
{
    const uint64_t nbytes = columns[c].count * sizeof(uint32_t);
    texts->codes[c] = kr_work_keep(work, kr_work_take(work, nbytes, "codes of texts"));
    KR_STEP(work, kr_column_bring_bytes(work->device, texts->codes[c].data, columns[c].data, nbytes,
                                        work->stream, work->err));
    kr_column here = columns[c];
    here.data = texts->codes[c].data;
    const kr_table_codes codes = {.texts = kr_table_dictionary_of(table, c)->texts,
                                  .column = &here,
                                  .name = table->names[c],
                                  .verb = " to append",
                                  .help = ", so nothing was appended; give texts, or codes that "
                                          "kr_texts_encode gave, and NULL where these are KR_NO_ROW",
                                  .status = KR_ERR_ARGUMENT};
    kr_table_check_codes(work, &codes);
}

void kr_change_open_texts(kr_work *work, const kr_table *table, const kr_column *columns,
                          kr_change_texts *texts)
{
    const uint32_t n = table->n_columns;
    const uint64_t nbytes = columns[0].count * sizeof(uint32_t);
    *texts = (kr_change_texts){0};
    texts->more = kr_work_array(work, n, sizeof *texts->more, "rows to append");
    texts->codes = kr_work_array(work, n, sizeof *texts->codes, "rows to append");
    texts->grown = kr_work_array(work, n, sizeof *texts->grown, "rows to append");
    if (kr_work_goes_on(work))
        memcpy(texts->more, columns, n * sizeof *columns);
    for (uint32_t c = 0; c < n && kr_work_goes_on(work); ++c) {
        if (has_codes(table, columns, c))
            take_codes(work, table, columns, c, texts);
        if (!has_texts(table, columns, c))
            continue;
        texts->codes[c] = kr_work_keep(work, kr_work_take(work, nbytes, "codes of texts"));
        find_codes(work, table, columns, c, texts);
        grow(work, table, columns, c, texts->codes[c].data, texts);
    }
    /* A dictionary may have grown by a later column, or by this one. Codes that the caller gives move with
     * it. */
    for (uint32_t c = 0; c < n && kr_work_goes_on(work); ++c) {
        if (!table->dictionary_of[c])
            continue;
        if (has_codes(table, columns, c))
            kr_change_recode(work, table, texts, c, texts->codes[c].data, columns[c].count);
        else if (texts->is_grown)
            find_codes(work, table, columns, c, texts);
        texts->more[c] = (kr_column){.type = KR_U32,
                                     .count = columns[c].count,
                                     .data = texts->codes[c].data,
                                     .validity = columns[c].validity,
                                     .validity_offset = columns[c].validity_offset};
    }
}

void kr_change_recode(kr_work *work, const kr_table *table, const kr_change_texts *texts, uint32_t c,
                      uint32_t *codes, uint64_t n)
{
    if (!table->dictionary_of[c] || !texts->grown[table->dictionary_of[c] - 1] || !kr_work_goes_on(work))
        return;
    kr_texts_recode(work, kr_table_dictionary_of(table, c)->texts, later(table, texts, c), codes, n);
}

uint64_t kr_change_dictionary_of(const kr_table *table, const kr_change_texts *texts, uint32_t c)
{
    return table->dictionary_of[c] ? later(table, texts, c)->id : table->columns[c].dictionary;
}

void kr_change_take_texts(kr_work *work, kr_table *table, kr_change_texts *texts)
{
    for (uint32_t d = 0; d < table->n_dictionaries; ++d) {
        if (!texts->grown[d])
            continue;
        kr_texts_release((kr_texts *)table->dictionaries[d].texts, work->stream);
        table->dictionaries[d].texts = texts->grown[d];
        texts->grown[d] = NULL;
    }
}

void kr_change_close_texts(kr_work *work, const kr_table *table, kr_change_texts *texts)
{
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        if (texts->codes)
            kr_buffer_release(table->device, texts->codes + c, work->stream);
        if (texts->grown)
            kr_texts_release(texts->grown[c], work->stream);
    }
    free(texts->grown);
    free(texts->codes);
    free(texts->more);
}
