#include "table/storage/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kr_texts *shared_of(const kr_table_job *job, uint32_t c)
{
    return job->options.texts ? job->options.texts[c] : NULL;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static kr_status check_shared(const kr_table_job *job, const kr_texts *shared, uint32_t c, kr_error *err)
{
    const kr_column *column = job->columns + c;
    if (shared->device != job->device)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_table_options.texts[%u] is a dictionary of another device ('%s'): make one on the "
                       "device of the table",
                       c, shared->device->name);
    if (kr_strings_are(column->type))
        return KR_OK;
    if (column->type != KR_U32)
        return kr_fail(
            err, KR_ERR_TYPE,
            "kr_table_options.texts[%u] is a dictionary, but column %u is %s: give texts, or u32 codes "
            "of this dictionary",
            c, c, kr_type_name(column->type) ? kr_type_name(column->type) : "of no type");
    if (column->dictionary == shared->id)
        return KR_OK;
    return kr_fail(
        err, KR_ERR_TYPE,
        "column %u has no codes of the dictionary kr_table_options.texts[%u]: set kr_column.dictionary "
        "to its kr_texts_info.dictionary if it has",
        c, c);
}

kr_status kr_table_check_texts(const kr_table_job *job, uint32_t c, int reads, kr_error *err)
{
    const kr_column *column = job->columns + c;
    const kr_texts *shared = shared_of(job, c);
    char what[32];
    kr_status status = shared ? check_shared(job, shared, c, err) : KR_OK;
    snprintf(what, sizeof what, "column %u", c);
    if (status == KR_OK && kr_strings_are(column->type) && (reads || column->data))
        status = kr_strings_check(job->device, column, what, NULL, err);
    return status;
}

kr_need kr_table_texts_need(const kr_table_job *job, uint32_t c)
{
    const kr_column *column = job->columns + c;
    const uint64_t codes = column->count * sizeof(uint32_t),
                   bits = column->validity ? column->count / 8 + 2 : 0;
    kr_need need = shared_of(job, c) ? (kr_need){0} : kr_texts_need(column);
    /* What finding the codes takes stays below what the dictionary took; a shared one took it before. */
    if (shared_of(job, c))
        need.peak_nbytes = column->count * 32 + kr_strings_nbytes(column) + (1 << 16);
    need.footprint_nbytes += codes + bits;
    need.peak_nbytes += codes + bits;
    return need;
}

/* ---- Codes ----------------------------------------------------------------------------------- */

void kr_table_add_texts(kr_table *table, uint32_t c, const kr_texts *texts, int is_shared)
{
    uint32_t d = 0;
    while (d < table->n_dictionaries && table->dictionaries[d].texts != texts)
        ++d;
    if (d == table->n_dictionaries)
        table->dictionaries[table->n_dictionaries++] =
            (kr_table_dictionary){.texts = texts, .is_shared = (uint32_t)is_shared};
    table->dictionary_of[c] = d + 1;
}

/* A copy also where the device reaches the caller's: columns of texts are not needed any longer. */
static void bring_validity(kr_work *work, const kr_column *column, kr_resident *resident,
                           kr_column *on_device)
{
    const uint64_t nbytes = column->validity && column->count ? kr_column_validity_nbytes(column) : 0;
    on_device->validity_offset = nbytes ? column->validity_offset % 8 : 0;
    if (!nbytes)
        return;
    resident->validity = kr_work_keep(work, kr_work_take(work, nbytes, "a copy of a validity bitmap"));
    KR_STEP(work, kr_column_bring_bytes(work->device, resident->validity.data,
                                        column->validity + column->validity_offset / 8, nbytes, work->stream,
                                        work->err));
    on_device->validity = resident->validity.data;
}

/* All texts of a shared dictionary's column are there. */
static void check_found(kr_work *work, const kr_texts *texts, const kr_column *column, const char *name,
                        const uint32_t *codes)
{
    if (!kr_work_goes_on(work))
        return;
    const uint64_t row = kr_texts_first_missing(work, texts->n, column, codes);
    if (kr_work_goes_on(work) && row != UINT64_MAX)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_ARGUMENT,
                        "column '%s', row %llu: this text is not in the dictionary that "
                        "kr_table_options.texts shares; make that of all texts that the table will have",
                        name, (unsigned long long)row));
}

static void encode(kr_work *work, kr_table *table, const kr_table_job *job, uint32_t c)
{
    char what[64];
    const kr_column *column = job->columns + c;
    uint32_t *codes = kr_work_take(work, column->count * sizeof *codes, "codes of texts");
    const kr_texts_design design = {.is_ordered = 1, .what = what, .codes = codes};
    const kr_texts *shared = shared_of(job, c), *texts = shared;
    kr_resident *resident = table->residents + c;
    kr_column *on_device = table->columns + c;
    kr_texts *made = NULL;
    snprintf(what, sizeof what, "column '%.48s'", table->names[c]);
    if (!shared)
        KR_STEP(work, kr_texts_make(work->device, &design, column, work->stream, &made, work->err));
    if (made)
        texts = made;
    if (!kr_work_goes_on(work))
        return;
    kr_table_add_texts(table, c, texts, shared != NULL);
    if (shared) {
        kr_texts_find(work, texts, column, what, codes);
        check_found(work, shared, column, table->names[c], codes);
    }
    resident->data = kr_work_keep(work, codes);
    *on_device = (kr_column){
        .type = KR_U32, .count = column->count, .data = resident->data.data, .dictionary = texts->id};
    bring_validity(work, column, resident, on_device);
    resident->column = *on_device;
}

/* The column has codes of the dictionary already. */
static void share(kr_work *work, kr_table *table, const kr_texts *texts, uint32_t c)
{
    const kr_table_codes codes = {.texts = texts,
                                  .column = table->columns + c,
                                  .name = table->names[c],
                                  .verb = "",
                                  .help = "; give codes that kr_texts_encode gave, and NULL where these are "
                                          "KR_NO_ROW",
                                  .status = KR_ERR_ARGUMENT};
    kr_table_add_texts(table, c, texts, 1);
    kr_table_check_codes(work, &codes);
}

void kr_table_bring_texts(kr_work *work, kr_table *table, const kr_table_job *job, uint32_t c)
{
    if (!kr_work_goes_on(work))
        return;
    if (kr_strings_are(job->columns[c].type))
        encode(work, table, job, c);
    else if (shared_of(job, c))
        share(work, table, shared_of(job, c), c);
}

/* ---- Checks of what there is ------------------------------------------------------------------- */

void kr_table_check_codes(kr_work *work, const kr_table_codes *of)
{
    const uint32_t *codes = of->column->data;
    uint32_t code = 0;
    if (!kr_work_goes_on(work))
        return;
    const uint64_t row = kr_texts_first_missing(work, of->texts->n, of->column, codes);
    if (!kr_work_goes_on(work) || row == UINT64_MAX)
        return;
    kr_work_read(work, &code, codes + row, sizeof code);
    KR_STEP(work, kr_fail(work->err, of->status,
                          "column '%s'%s, row %llu: %u is no code of its dictionary, which has %llu texts%s",
                          of->name, of->verb, (unsigned long long)row, code, (unsigned long long)of->texts->n,
                          of->help));
}

void kr_table_check_all_codes(kr_work *work, const kr_table *table)
{
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        const kr_table_dictionary *dictionary = kr_table_dictionary_of(table, c);
        if (!dictionary)
            continue;
        const kr_table_codes codes = {dictionary->texts, table->columns + c, table->names[c], "", "",
                                      KR_ERR_INVARIANT};
        kr_table_check_codes(work, &codes);
    }
}

void kr_table_verify_texts(kr_work *work, const kr_table *table)
{
    for (uint32_t d = 0; d < table->n_dictionaries && kr_work_goes_on(work); ++d)
        kr_texts_verify(work, table->dictionaries[d].texts);
}

void kr_table_release_texts(kr_table *table)
{
    for (uint32_t d = 0; d < table->n_dictionaries; ++d)
        if (!table->dictionaries[d].is_shared)
            kr_texts_release((kr_texts *)table->dictionaries[d].texts, NULL);
    free(table->dictionaries);
    free(table->dictionary_of);
}

uint64_t kr_table_texts_nbytes(const kr_table *table)
{
    uint64_t nbytes = 0;
    for (uint32_t d = 0; d < table->n_dictionaries; ++d)
        nbytes += table->dictionaries[d].is_shared ? 0 : kr_texts_nbytes(table->dictionaries[d].texts);
    return nbytes;
}

/* ---- What conditions ask ----------------------------------------------------------------------- */

static const kr_texts *texts_of(const void *table, uint32_t column)
{
    const kr_table_dictionary *dictionary = kr_table_dictionary_of(table, column);
    return dictionary ? dictionary->texts : NULL;
}

static int has(const void *table, uint32_t column)
{
    return texts_of(table, column) != NULL;
}

static int is_ordered(const void *table, uint32_t column)
{
    return texts_of(table, column)->is_ordered != 0;
}

static uint32_t count(const void *table, uint32_t column)
{
    return (uint32_t)texts_of(table, column)->n;
}

/* Numbers that a step writes on the device, and that are read back. */
static void read_numbers(kr_work *work, uint32_t *to, uint32_t *from, uint64_t n)
{
    if (n)
        kr_work_read(work, to, from, n * sizeof *to);
    kr_work_give(work, from);
}

static void find_codes(kr_work *work, const kr_texts *texts, const kr_column *wanted, uint32_t *lower,
                       uint32_t *upper)
{
    uint32_t *codes = kr_work_take(work, wanted->count * sizeof *codes, "codes of texts");
    kr_texts_find(work, texts, wanted, "texts of a condition", codes);
    read_numbers(work, lower, codes, wanted->count);
    for (uint64_t i = 0; i < wanted->count && kr_work_goes_on(work); ++i) {
        const int is_there = lower[i] != KR_NO_ROW;
        lower[i] = is_there ? lower[i] : 0;
        upper[i] = is_there ? lower[i] + 1 : 0;
    }
}

static kr_status bounds(const void *table, uint32_t column, const kr_column *wanted, int are_prefixes,
                        uint32_t *lower, uint32_t *upper, kr_error *err)
{
    const kr_texts *texts = texts_of(table, column);
    const uint32_t behind = are_prefixes ? KR_COUNT_PREFIXED : KR_COUNT_UP_TO;
    kr_work work = kr_work_on(texts->device, NULL, err);
    if (!texts->is_ordered) {
        find_codes(&work, texts, wanted, lower, upper);
        return kr_work_end(&work);
    }
    uint32_t *counts = kr_work_take(&work, wanted->count * sizeof *counts, "bounds of texts");
    kr_texts_count(&work, texts, wanted, KR_COUNT_BELOW, 0, "texts of a condition", counts);
    read_numbers(&work, lower, counts, wanted->count);
    counts = kr_work_take(&work, wanted->count * sizeof *counts, "bounds of texts");
    kr_texts_count(&work, texts, wanted, behind, 0, "texts of a condition", counts);
    read_numbers(&work, upper, counts, wanted->count);
    return kr_work_end(&work);
}

typedef struct adding {
    kr_code_set *set;
    kr_error *err;
} adding;

static int add_run(void *ctx, uint32_t low, uint32_t high)
{
    const adding *to = ctx;
    return kr_intervals_add(to->set, low, high, to->err);
}

static kr_status match(const void *table, uint32_t column, const uint16_t *pattern, uint64_t n_pattern,
                       uint32_t first, uint32_t n, kr_code_set *set, kr_error *err)
{
    const kr_texts *texts = texts_of(table, column);
    adding to = {set, err};
    const kr_texts_runs runs = {add_run, &to};
    kr_work work = kr_work_on(texts->device, NULL, err);
    kr_texts_match(&work, texts, pattern, n_pattern, first, n, &runs);
    return kr_work_end(&work);
}

static uint64_t show(const void *table, uint32_t column, uint32_t code, char *text, size_t nbytes)
{
    const kr_texts *texts = texts_of(table, column);
    kr_work work = kr_work_on(texts->device, NULL, NULL);
    int64_t at[2] = {0, 0};
    kr_work_read(&work, at, (const int64_t *)texts->offsets.data + code, sizeof at);
    const uint64_t size = (uint64_t)(at[1] - at[0]), shown = size < nbytes - 1 ? size : nbytes - 1;
    if (shown)
        kr_work_read(&work, text, (const char *)texts->bytes.data + at[0], shown);
    text[shown] = '\0';
    return kr_work_end(&work) == KR_OK ? size : UINT64_MAX;
}

const kr_plan_texts kr_table_plan_texts = {has, is_ordered, count, bounds, match, show};
