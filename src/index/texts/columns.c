#include "index/texts/columns.h"
#include "index/texts/encode.h"
#include "index/texts/index.h"
#include "index/texts/probes.h"

#include <stdio.h>

#define HELP "index fewer columns, or parts of them"

typedef struct column_name {
    char text[40];
} column_name;

static column_name name_of(const char *what, uint32_t j)
{
    column_name name;
    snprintf(name.text, sizeof name.text, "column %u of %s", j, what);
    return name;
}

int kr_texts_are_among(const kr_column *columns, uint32_t n)
{
    for (uint32_t j = 0; j < n; ++j)
        if (kr_strings_are(columns[j].type) || columns[j].dictionary)
            return 1;
    return 0;
}

/* Codes of a caller are those of n_codes texts; of a dictionary that the index has not, KR_NO_ROW is none. */
static void check_codes(kr_work *w, const kr_column *codes, uint64_t n_codes, const char *what)
{
    const uint64_t row = kr_work_goes_on(w) ? kr_texts_find_missing(w, n_codes, codes) : UINT64_MAX;
    if (row != UINT64_MAX && kr_work_goes_on(w))
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "%s, row %llu: this code is of no text; give codes that kr_texts_encode gave, and "
                           "NULL where these are KR_NO_ROW",
                           what, (unsigned long long)row));
}

/* ---- Builds --------------------------------------------------------------------------------------- */

/* What an index is made of. */
typedef struct parts {
    kr_texts *texts[KR_COMPOSITE_INDEXED];
    kr_column codes[KR_COMPOSITE_INDEXED];
} parts;

static void encode_columns(kr_work *w, const kr_spec *spec, const kr_column *columns, uint32_t n, parts *p)
{
    for (uint32_t j = 0; j < n; ++j) {
        const column_name name = name_of("the columns", j);
        p->codes[j] = columns[j];
        if (columns[j].dictionary)
            check_codes(w, &columns[j], KR_NO_ROW, name.text);
        if (kr_strings_are(columns[j].type) && kr_work_goes_on(w))
            p->texts[j] = kr_texts_make_with_codes(w, (uint32_t)kr_texts_are_ordered(spec), &columns[j],
                                                   name.text, HELP, &p->codes[j]);
    }
}

/* The index takes the dictionaries. */
static void finish(kr_index *index, const kr_column *columns, parts *p)
{
    kr_composite *c = index->composite;
    kr_phases phases = {.n = 0};
    for (uint32_t j = 0; j < c->n; ++j) {
        if (!p->texts[j])
            continue;
        kr_phases_add(&phases, &p->texts[j]->phases);
        c->columns[j].texts = p->texts[j];
        c->columns[j].text_type = columns[j].type;
        p->texts[j] = NULL;
    }
    kr_phases_add(&phases, &index->phases);
    index->phases = phases;
    index->info.footprint_nbytes += kr_composite_texts_nbytes(c);
}

kr_status kr_texts_make_columns_index(kr_device *device, const kr_spec *spec, const kr_column *columns,
                                      uint32_t n, const uint32_t *row_ids, kr_stream *stream,
                                      kr_index **index, kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_peak peak;
    kr_index *made = NULL;
    parts p = {{NULL}, {{0}}};
    kr_work_peak_begin(&w, &peak);
    encode_columns(&w, spec, columns, n, &p);
    KR_STEP(&w, kr_index_make_columns(device, spec, p.codes, n, row_ids, w.stream, &made, err));
    if (kr_work_goes_on(&w))
        finish(made, columns, &p);
    for (uint32_t j = 0; j < n; ++j)
        kr_texts_release(p.texts[j], w.stream);
    kr_work_give_since(&w, 0);
    const uint64_t peak_nbytes = kr_work_peak_end(&w, &peak);
    const kr_status status = kr_work_end(&w);
    if (status != KR_OK)
        return status;
    made->info.peak_nbytes =
        peak_nbytes > made->info.footprint_nbytes ? peak_nbytes : made->info.footprint_nbytes;
    *index = made;
    return KR_OK;
}

/* ---- Changes -------------------------------------------------------------------------------------- */

/* Rows to insert have codes: a dictionary that keys are folded of does not grow. */
static kr_column encode_inserted(kr_work *w, const kr_texts *texts, const kr_column *strings,
                                 const char *what)
{
    kr_column codes = {.type = KR_U32,
                       .count = strings->count,
                       .validity = strings->validity,
                       .validity_offset = strings->validity_offset,
                       .dictionary = texts->id};
    uint32_t *found = kr_work_take_or(w, codes.count * sizeof *found, "codes of texts", HELP);
    if (kr_work_goes_on(w))
        kr_texts_find(w, texts, strings, what, found);
    const uint64_t missing =
        kr_work_goes_on(w) ? kr_texts_first_missing(w, texts->n, strings, found) : UINT64_MAX;
    if (missing != UINT64_MAX && kr_work_goes_on(w))
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "%s, row %llu: the index has no such text, and its keys no room for new ones: "
                           "create the index anew with these rows",
                           what, (unsigned long long)missing));
    codes.data = found;
    return codes;
}

/* NULL: none. */
static const kr_column *encode_rows(kr_work *w, const kr_composite *c, const kr_column *rows,
                                    int are_inserted, kr_column *codes)
{
    for (uint32_t j = 0; rows && j < c->n; ++j) {
        const column_name name = name_of(are_inserted ? "insert_columns" : "delete_columns", j);
        const kr_texts *texts = c->columns[j].texts;
        codes[j] = rows[j];
        if (are_inserted && rows[j].dictionary)
            check_codes(w, &rows[j], texts ? texts->n : KR_NO_ROW, name.text);
        if (!kr_strings_are(rows[j].type) || !kr_work_goes_on(w))
            continue;
        codes[j] = are_inserted ? encode_inserted(w, texts, &rows[j], name.text)
                                : kr_texts_make_codes(w, texts, &rows[j], name.text, HELP);
    }
    return rows ? codes : NULL;
}

kr_status kr_texts_update_columns(kr_index *index, const kr_column *inserted, const kr_column *deleted,
                                  const kr_update *wanted, kr_stream *stream, kr_error *err)
{
    kr_work w = kr_work_on(index->device, stream, err);
    kr_column codes[2][KR_COMPOSITE_INDEXED];
    KR_STEP(&w, kr_index_await(index, w.stream, err));
    const kr_column *in = encode_rows(&w, index->composite, inserted, 1, codes[0]);
    const kr_column *out = encode_rows(&w, index->composite, deleted, 0, codes[1]);
    KR_STEP(&w, kr_index_update_columns_apply(index, in, out, wanted, w.stream, err));
    kr_work_give_since(&w, 0);
    return kr_work_end(&w);
}

/* ---- Lookups -------------------------------------------------------------------------------------- */

kr_status kr_texts_check_columns(const kr_index *index, const kr_composite_probes *probes, kr_error *err)
{
    const uint32_t last = probes->n - 1;
    const int needs_order = probes->has_upper || probes->how || probes->near.how;
    return kr_strings_are(probes->columns[last].type)
               ? kr_texts_check_probes(index->composite->columns[last].texts, needs_order, err)
               : KR_OK;
}

/* The last column, in which not only equal texts may be asked for. */
static void make_last(kr_work *w, const kr_texts *texts, const kr_composite_probes *probes, uint32_t enqueues,
                      kr_composite_probes *codes)
{
    const uint32_t last = probes->n - 1;
    const kr_texts_probes asked = {&probes->columns[last], probes->has_upper ? &probes->upper : NULL,
                                   probes->how, enqueues};
    kr_column keys[2];
    if (probes->near.how) {
        kr_texts_make_nearest(w, texts, &asked, &codes->near, &codes->columns[last]);
        return;
    }
    kr_texts_make_keys(w, texts, &asked, keys);
    codes->columns[last] = keys[0];
    codes->upper = keys[1];
    codes->has_upper = 1;
}

void kr_texts_make_columns(kr_work *w, const kr_index *index, const kr_composite_probes *probes,
                           uint32_t enqueues, kr_composite_probes *codes)
{
    const uint32_t last = probes->n - 1;
    const int is_exact = !probes->has_upper && !probes->near.how && !probes->how;
    *codes = *probes;
    for (uint32_t j = 0; j < probes->n && kr_work_goes_on(w); ++j) {
        const kr_texts *texts = index->composite->columns[j].texts;
        const column_name name = name_of("the probes", j);
        if (!kr_strings_are(probes->columns[j].type))
            continue;
        if (j < last || is_exact)
            codes->columns[j] = kr_texts_make_codes(
                w, texts, &probes->columns[j], enqueues ? NULL : name.text, "look up fewer probes at once");
        else
            make_last(w, texts, probes, enqueues, codes);
    }
}
