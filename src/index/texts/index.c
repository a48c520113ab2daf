#include "index/texts/index.h"
#include "index/lookup/query.h"
#include "index/texts/index_body.h"

#include <stdio.h>

/* ---- What an index does with its dictionary -------------------------------------------------------- */

void kr_texts_verify(kr_work *w, const kr_texts *texts)
{
    const uint32_t mark = kr_work_mark(w);
    const kr_column strings = kr_texts_column(texts);
    uint64_t wrong = 0, *counter = kr_work_counters(w, 1);
    uint32_t *codes = kr_work_take(w, texts->n * sizeof *codes, "codes of texts");
    const texts_same_params params = {codes, counter};
    if (texts->table)
        kr_index_check_family(w, texts->table);
    for (int by_order = 0; by_order <= (int)texts->is_ordered && texts->n; ++by_order) {
        if (by_order)
            kr_texts_count(w, texts, &strings, KR_COUNT_BELOW, 0, "texts", codes);
        else
            kr_texts_find(w, texts, &strings, "texts", codes);
        kr_work_run(w, &texts_same, &params, texts->n);
    }
    kr_work_read(w, &wrong, counter, sizeof wrong);
    kr_work_give_since(w, mark);
    if (wrong)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "text %llu of the dictionary is not found where it is",
                           (unsigned long long)wrong - 1));
}

/* Codes that are looked up at a time, so that this takes little memory beside a large dictionary. */
enum { PIECE = 1 << 20 };

/* Rows whose keys are codes of a dictionary. */
static uint64_t count_coded(kr_work *w, const kr_index *index, const kr_texts *texts)
{
    const uint32_t mark = kr_work_mark(w);
    const texts_all_params all = {kr_work_take(w, texts->n * sizeof(uint32_t), "codes of texts")};
    const kr_column codes = {.type = KR_U32, .count = texts->n, .data = all.codes};
    uint64_t rows = 0;
    kr_work_run(w, &texts_all, &all, texts->n);
    for (uint64_t first = 0, n; first < texts->n && kr_work_goes_on(w); first += n) {
        n = texts->n - first < PIECE ? texts->n - first : PIECE;
        const kr_column piece = kr_column_slice(&codes, first, n);
        uint64_t found = 0;
        kr_query query;
        kr_query_make(w, index, &piece, NULL, &query);
        if (!kr_work_goes_on(w))
            break;
        const kr_matches matches = kr_matches_find(w, &query);
        kr_work_read(w, &found, KR_PLACE_IN(matches.offsets, n), sizeof found);
        kr_matches_give(w, &matches);
        rows += found;
    }
    kr_work_give_since(w, mark);
    return rows;
}

int kr_texts_has_strange_keys(kr_work *w, const kr_index *index, const kr_texts *texts, char strange[64])
{
    const uint64_t rows = index->ops->rows(index->self).n_rows;
    uint64_t lowest = 0, highest = 0;
    if (!rows)
        return 0;
    if (index->ops->ordered) {
        index->ops->ordered->key_range(index->self, &lowest, &highest);
        snprintf(strange, 64, "its largest key is %llu", (unsigned long long)highest);
        return highest >= texts->n;
    }
    const uint64_t coded = count_coded(w, index, texts);
    snprintf(strange, 64, "%llu of its rows have other keys", (unsigned long long)(rows - coded));
    return kr_work_goes_on(w) && coded != rows;
}

static void check_keys(kr_work *w, const kr_index *index)
{
    char strange[64];
    if (kr_texts_has_strange_keys(w, index, index->texts, strange))
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_INVARIANT, "%s, but the dictionary has the codes of %llu texts alone",
                        strange, (unsigned long long)index->texts->n));
}

extern const kr_index_texts_ops kr_index_texts_do;
const kr_index_texts_ops kr_index_texts_do = {
    .share = kr_texts_share,
    .release = kr_texts_release,
    .nbytes = kr_texts_nbytes,
    .id = kr_texts_id,
    .verify = kr_texts_verify,
    .check_keys = check_keys,
    .image = kr_texts_image,
};

/* ---- Builds ---------------------------------------------------------------------------------------- */

int kr_texts_are_ordered(const kr_spec *spec)
{
    return (spec->kind->capabilities & KR_CAN_RANGE) != 0;
}

kr_need kr_texts_index_need(const kr_column *strings, kr_need codes)
{
    const kr_need texts = kr_texts_need(strings);
    const uint64_t nbytes = strings->count * sizeof(uint32_t);
    const uint64_t first = texts.peak_nbytes + nbytes;
    const uint64_t later = texts.footprint_nbytes + nbytes + codes.peak_nbytes;
    return (kr_need){
        .footprint_nbytes = texts.footprint_nbytes + codes.footprint_nbytes,
        .peak_nbytes = first > later ? first : later,
    };
}

/* Codes of rows as a column, with the NULLs of that of the texts. */
static kr_column name_codes(const kr_texts *texts, const kr_column *strings, const uint32_t *codes)
{
    return (kr_column){.type = KR_U32,
                       .count = strings->count,
                       .data = codes,
                       .validity = strings->validity,
                       .validity_offset = strings->validity_offset,
                       .dictionary = texts->id};
}

/* In scratch memory. */
static kr_column encode(kr_work *w, const kr_texts *texts, const kr_column *strings, const char *what)
{
    uint32_t *codes = kr_work_take(w, strings->count * sizeof *codes, "codes of texts");
    kr_texts_find(w, texts, strings, what, codes);
    return name_codes(texts, strings, codes);
}

void kr_texts_give_index(kr_index *index, const kr_texts *texts)
{
    kr_texts *before = index->texts;
    if (before)
        kr_users_wait(index->device, &index->users);
    index->texts = kr_texts_share(texts);
    index->info.footprint_nbytes += kr_texts_nbytes(texts) - (before ? kr_texts_nbytes(before) : 0);
    if (!index->text_type)
        index->text_type = KR_STRING;
    kr_texts_release(before, NULL);
}

static void build(kr_work *w, const kr_spec *spec, const kr_column *strings, const uint32_t *row_ids,
                  kr_index **made)
{
    const kr_texts_design design = {
        .is_ordered = (uint32_t)kr_texts_are_ordered(spec),
        .what = "keys",
        .codes = kr_work_take(w, strings->count * sizeof *design.codes, "codes of texts")};
    kr_texts *texts = NULL;
    KR_STEP(w, kr_texts_make(w->device, &design, strings, w->stream, &texts, w->err));
    if (!kr_work_goes_on(w))
        return;
    const kr_column keys = name_codes(texts, strings, design.codes);
    KR_STEP(w, kr_index_make(w->device, spec, &keys, row_ids, w->stream, made, w->err));
    kr_work_give_since(w, 0);
    if (kr_work_goes_on(w)) {
        kr_phases phases = texts->phases;
        kr_phases_add(&phases, &(*made)->phases);
        (*made)->phases = phases;
        (*made)->text_type = strings->type;
        kr_texts_give_index(*made, texts);
    }
    kr_texts_release(texts, w->stream);
}

kr_status kr_texts_make_index(kr_device *device, const kr_spec *spec, const kr_column *strings,
                              const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_peak peak;
    kr_index *made = NULL;
    kr_work_peak_begin(&w, &peak);
    build(&w, spec, strings, row_ids, &made);
    const uint64_t peak_nbytes = kr_work_peak_end(&w, &peak);
    const kr_status status = kr_work_end(&w);
    if (status != KR_OK)
        return status;
    made->info.peak_nbytes = peak_nbytes > made->info.footprint_nbytes || made->ops->kept
                                 ? peak_nbytes
                                 : made->info.footprint_nbytes;
    *index = made;
    return KR_OK;
}

/* ---- Changes --------------------------------------------------------------------------------------- */

/* The codes and row ids of all rows: rows of each code are looked up. */
static uint32_t *list_rows(kr_work *w, const kr_index *index, kr_column *keys)
{
    const uint64_t rows = index->info.rows, n = index->texts->n;
    uint32_t *codes = kr_work_take(w, rows * sizeof *codes, "codes of rows");
    uint32_t *listed = kr_work_take(w, rows * sizeof *listed, "rows of an index");
    const texts_all_params all = {kr_work_take(w, n * sizeof(uint32_t), "codes of texts")};
    const kr_column probes = {.type = KR_U32, .count = n, .data = all.codes};
    kr_matches_copy_job job = {
        .count = n, .capacity = rows, .out = listed, .probes = codes, .order = KR_ORDER_ROW};
    uint64_t found = 0;
    kr_query query;
    kr_work_run(w, &texts_all, &all, n);
    kr_query_make(w, index, &probes, NULL, &query);
    if (!kr_work_goes_on(w))
        return listed;
    kr_matches matches = kr_matches_find(w, &query);
    kr_work_read(w, &found, KR_PLACE_IN(matches.offsets, n), sizeof found);
    if (kr_work_goes_on(w) && found != rows)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "%llu rows have texts of the dictionary, of %llu",
                           (unsigned long long)found, (unsigned long long)rows));
    if (kr_work_goes_on(w) && rows)
        kr_matches_copy(w, &query, &matches, &job);
    kr_matches_give(w, &matches);
    kr_work_give(w, all.codes);
    *keys = (kr_column){.type = KR_U32, .count = rows, .data = codes};
    return listed;
}

/* The structure of `made`, which has the same rows, and that of the index change places. */
static void trade(kr_work *w, kr_index *index, kr_index *made)
{
    kr_index kept = *made;
    kr_users_take(index->device, &index->users, w->stream);
    made->self = index->self;
    made->is_lent = index->is_lent;
    made->ready = index->ready;
    made->mapped = index->mapped;
    index->self = kept.self;
    index->is_lent = 0;
    index->ready = kept.ready;
    index->mapped = kept.mapped;
    index->is_unique = kept.is_unique;
    index->key_bits = kept.key_bits;
    index->info.footprint_nbytes = kept.info.footprint_nbytes;
    atomic_store(&index->is_ready, 0);
}

/* Codes of all rows are those of another dictionary. */
static void remake(kr_work *w, kr_index *index, const kr_texts *texts)
{
    const uint32_t mark = kr_work_mark(w);
    kr_index *made = NULL;
    kr_column keys = {.count = 0};
    const uint32_t *rows = list_rows(w, index, &keys);
    kr_texts_recode(w, index->texts, texts, (uint32_t *)(uintptr_t)keys.data, keys.count);
    keys.dictionary = texts->id;
    KR_STEP(w, kr_index_make(w->device, &index->spec, &keys, rows, w->stream, &made, w->err));
    kr_work_give_since(w, mark);
    if (!kr_work_goes_on(w))
        return;
    trade(w, index, made);
    kr_index_release(made, w->stream);
}

/* All texts of the column have codes afterwards. */
static void grow(kr_work *w, kr_index *index, const kr_column *strings, const char *what)
{
    kr_texts *before = index->texts, *texts = kr_texts_merge(w, before, strings, what);
    kr_work_lap(w, "texts");
    if (kr_work_goes_on(w) && texts->is_ordered)
        remake(w, index, texts);
    if (kr_work_goes_on(w)) {
        kr_users_take(index->device, &index->users, w->stream); /* they find codes in `before` */
        index->texts = texts;
        index->dictionary = texts->id;
        ++index->version;
        texts = before;
    }
    kr_texts_release(texts, w->stream);
}

/* Codes of texts to insert, which all get one. */
static kr_column encode_new(kr_work *w, kr_index *index, const kr_column *strings, const char *what)
{
    const uint32_t mark = kr_work_mark(w);
    kr_column keys = encode(w, index->texts, strings, what);
    if (!kr_work_goes_on(w) || kr_texts_first_missing(w, index->texts->n, strings, keys.data) == UINT64_MAX)
        return keys;
    kr_work_give_since(w, mark);
    grow(w, index, strings, what);
    return kr_work_goes_on(w) ? encode(w, index->texts, strings, what) : keys;
}

/* Codes that a caller inserts, in device memory: each has a text. */
static kr_column bring_codes(kr_work *w, const kr_texts *texts, const kr_column *codes, const char *what)
{
    const kr_column here = kr_column_bring(w, codes, "a copy of codes");
    uint32_t code = 0;
    const uint64_t row =
        kr_work_goes_on(w) ? kr_texts_first_missing(w, texts->n, &here, here.data) : UINT64_MAX;
    if (row == UINT64_MAX)
        return here;
    kr_work_read(w, &code, (const uint32_t *)here.data + row, sizeof code);
    KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                       "%s, row %llu: %u is no code of the index's dictionary, which has %llu texts; give "
                       "texts, or codes that kr_texts_encode gave",
                       what, (unsigned long long)row, code, (unsigned long long)texts->n));
    return here;
}

static kr_column take_inserted(kr_work *w, kr_index *index, const kr_column *keys, const char *what)
{
    if (!keys->count)
        return (kr_column){.type = KR_U32, .dictionary = index->dictionary};
    return kr_strings_are(keys->type) ? encode_new(w, index, keys, what)
                                      : bring_codes(w, index->texts, keys, what);
}

/* Keys of rows to delete, texts or codes of `before`, which the index had when the change began. */
static kr_column take_deleted(kr_work *w, const kr_index *index, const kr_texts *before,
                              const kr_column *keys)
{
    if (kr_strings_are(keys->type))
        return encode(w, index->texts, keys, "delete_keys");
    kr_column moved = *keys;
    const uint64_t nbytes = keys->count * sizeof(uint32_t);
    if (index->texts == before)
        return moved;
    uint32_t *codes = kr_work_take(w, nbytes, "codes of texts");
    KR_STEP(w, kr_column_bring_bytes(w->device, codes, keys->data, nbytes, w->stream, w->err));
    kr_texts_recode(w, before, index->texts, codes, keys->count);
    moved.data = codes;
    moved.dictionary = index->texts->id;
    return moved;
}

/* What the change took beside the call that it ends with, whose peak the index has. */
static kr_status end_change(kr_work *w, kr_index *index, kr_peak *peak)
{
    const uint64_t peak_nbytes = kr_work_peak_end(w, peak) + index->info.footprint_nbytes;
    if (kr_work_goes_on(w) && index->info.peak_nbytes < peak_nbytes)
        index->info.peak_nbytes = peak_nbytes;
    return kr_work_end(w);
}

kr_status kr_texts_update_index(kr_index *index, const kr_update *wanted, kr_stream *stream, kr_error *err)
{
    const kr_column none = {.type = KR_U32, .dictionary = index->dictionary};
    const kr_update nothing = {.insert_keys = none, .delete_keys = none};
    kr_update job = *wanted;
    kr_peak peak;
    const kr_status can = kr_index_update_apply(index, &nothing, stream, err);
    if (can != KR_OK)
        return can;
    kr_work w = kr_work_on(index->device, stream, err);
    kr_work_peak_begin(&w, &peak);
    kr_texts *before = kr_texts_share(index->texts);
    KR_STEP(&w, kr_index_await(index, stream, err));
    if (kr_work_goes_on(&w))
        job.insert_keys = take_inserted(&w, index, &wanted->insert_keys, "insert_keys");
    if (kr_work_goes_on(&w))
        job.delete_keys = take_deleted(&w, index, before, &wanted->delete_keys);
    kr_texts_release(before, w.stream);
    KR_STEP(&w, kr_index_update_apply(index, &job, stream, err));
    return end_change(&w, index, &peak);
}

kr_status kr_texts_set_index_keys(kr_index *index, const uint32_t *row_ids, const kr_column *wanted,
                                  kr_stream *stream, kr_error *err)
{
    kr_work w = kr_work_on(index->device, stream, err);
    kr_peak peak;
    kr_work_peak_begin(&w, &peak);
    KR_STEP(&w, kr_index_await(index, stream, err));
    const kr_column keys = take_inserted(&w, index, wanted, "keys");
    KR_STEP(&w, kr_index_set_keys_apply(index, row_ids, &keys, stream, err));
    return end_change(&w, index, &peak);
}
