/* What is done with codes: those that are missing, and those of a dictionary that has grown. */
#include "index/texts/codes_body.h"
#include "index/texts/texts.h"

kr_column kr_texts_column(const kr_texts *texts)
{
    return (kr_column){.type = KR_LARGE_BINARY,
                       .count = texts->n,
                       .data = texts->offsets.data,
                       .reserved_words = {(uintptr_t)texts->bytes.data, texts->n_bytes}};
}

enum { PIECE = 1 << 24 };

uint64_t kr_texts_first_missing(kr_work *w, uint64_t n, const kr_column *column, const uint32_t *codes)
{
    const uint32_t mark = kr_work_mark(w);
    const kr_column bits = {.type = KR_U8,
                            .count = column->count,
                            .validity = column->validity,
                            .validity_offset = column->validity_offset};
    const kr_column here = kr_column_bring(w, &bits, "a copy of a validity bitmap");
    const texts_missing_params params = {codes, here.validity,         here.validity_offset, column->count,
                                         n,     kr_work_counters(w, 1)};
    uint64_t found = 0;
    kr_work_run(w, &texts_missing, &params, column->count);
    kr_work_read(w, &found, params.missing, sizeof found);
    kr_work_give_since(w, mark);
    return found ? column->count - found : UINT64_MAX;
}

uint64_t kr_texts_find_missing(kr_work *w, uint64_t n, const kr_column *codes)
{
    const uint64_t most = kr_column_is_reached(w->device, codes) ? codes->count : PIECE;
    uint64_t found = UINT64_MAX;
    for (uint64_t first = 0, size; first < codes->count && found == UINT64_MAX; first += size) {
        const uint32_t mark = kr_work_mark(w);
        size = codes->count - first < most ? codes->count - first : most;
        const kr_column part = kr_column_slice(codes, first, size);
        const kr_column here = kr_column_bring(w, &part, "a copy of codes");
        found = kr_work_goes_on(w) ? kr_texts_first_missing(w, n, &here, here.data) : UINT64_MAX;
        kr_work_give_since(w, mark);
        found += found == UINT64_MAX ? 0 : first;
    }
    return kr_work_goes_on(w) ? found : UINT64_MAX;
}

void kr_texts_recode(kr_work *w, const kr_texts *from, const kr_texts *to, uint32_t *codes, uint64_t n)
{
    const kr_column texts = kr_texts_column(from);
    const uint32_t mark = kr_work_mark(w);
    const texts_recode_params params = {kr_work_take(w, from->n * sizeof(uint32_t), "codes of texts"), codes,
                                        from->n};
    if (from->n)
        kr_texts_find(w, to, &texts, "texts", (uint32_t *)(uintptr_t)params.map);
    kr_work_run(w, &texts_recode, &params, n);
    kr_work_give_since(w, mark);
}

/* The texts of `texts` and behind them those of `more`, which may be in both. */
static kr_column both(kr_work *w, const kr_texts *texts, const kr_texts *more)
{
    const uint64_t n = texts->n + more->n, nbytes = texts->n_bytes + more->n_bytes;
    uint64_t *offsets = kr_work_take(w, (n + 1) * sizeof *offsets, "offsets of texts");
    uint8_t *bytes = kr_work_take(w, nbytes + 8, "texts");
    const texts_shift_params shift = {more->offsets.data, KR_PLACE_IN(offsets, texts->n), texts->n_bytes};
    kr_work_copy(w, offsets, texts->offsets.data, (texts->n + 1) * sizeof *offsets);
    kr_work_run(w, &texts_shift, &shift, more->n + 1);
    kr_work_copy(w, bytes, texts->bytes.data, texts->n_bytes);
    kr_work_copy(w, KR_PLACE_IN(bytes, texts->n_bytes), more->bytes.data, more->n_bytes);
    return (kr_column){
        .type = KR_LARGE_BINARY, .count = n, .data = offsets, .reserved_words = {(uintptr_t)bytes, nbytes}};
}

kr_texts *kr_texts_merge(kr_work *w, const kr_texts *texts, const kr_column *strings, const char *what)
{
    const kr_texts_design first = {.what = what}, design = {.is_ordered = texts->is_ordered};
    const uint32_t mark = kr_work_mark(w);
    kr_texts *more = NULL, *made = NULL;
    KR_STEP(w, kr_texts_make(w->device, &first, strings, w->stream, &more, w->err));
    if (kr_work_goes_on(w) && more->n >= KR_NO_ROW - texts->n)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "%llu texts and %llu more: a dictionary holds at most 4294967294",
                           (unsigned long long)texts->n, (unsigned long long)more->n));
    if (kr_work_goes_on(w)) {
        const kr_column all = both(w, texts, more);
        KR_STEP(w, kr_texts_make(w->device, &design, &all, w->stream, &made, w->err));
    }
    kr_work_give_since(w, mark);
    kr_texts_release(more, w->stream);
    return made;
}
