#include "index/texts/encode.h"
#include "index/results/bitmap.h"
#include "index/texts/encode_body.h"

/* Codes and, behind them, a bitmap: which rows have one. */
static uint64_t bitmap_place(uint64_t n)
{
    return (n * sizeof(uint32_t) + 63) / 64 * 64;
}

static uint8_t *take_block(kr_work *w, uint64_t n, const char *help)
{
    return kr_work_take_or(w, bitmap_place(n) + n / 8 + 1, "codes of texts", help);
}

/* Codes are there; KR_NO_ROW becomes NULL. */
static kr_column finish_codes(kr_work *w, const kr_texts *texts, uint8_t *block, uint64_t n, const char *help)
{
    uint8_t *bitmap = KR_PLACE_IN(block, bitmap_place(n));
    uint8_t *flags = kr_work_take_or(w, n, "which texts have codes", help);
    const texts_known_params known = {(uint32_t *)(void *)block, flags};
    kr_work_run(w, &texts_known, &known, n);
    kr_bitmap_pack(w, flags, n, bitmap);
    kr_work_give(w, flags);
    return (kr_column){.type = KR_U32,
                       .count = n,
                       .data = block,
                       .validity = bitmap,
                       .dictionary = kr_work_goes_on(w) ? texts->id : 0};
}

kr_column kr_texts_make_codes(kr_work *w, const kr_texts *texts, const kr_column *strings, const char *what,
                              const char *help)
{
    uint8_t *block = take_block(w, strings->count, help);
    if (kr_work_goes_on(w))
        kr_texts_find(w, texts, strings, what, (uint32_t *)(void *)block);
    return finish_codes(w, texts, block, strings->count, help);
}

kr_texts *kr_texts_make_with_codes(kr_work *w, uint32_t is_ordered, const kr_column *strings,
                                   const char *what, const char *help, kr_column *codes)
{
    uint8_t *block = take_block(w, strings->count, help);
    const kr_texts_design design = {
        .is_ordered = is_ordered, .what = what, .codes = (uint32_t *)(void *)block};
    kr_texts *texts = NULL;
    KR_STEP(w, kr_texts_make(w->device, &design, strings, w->stream, &texts, w->err));
    *codes = finish_codes(w, texts, block, strings->count, help);
    if (kr_work_goes_on(w))
        return texts;
    kr_texts_release(texts, w->stream);
    return NULL;
}

kr_column kr_texts_hide_missing(kr_work *w, const kr_column *codes, const char *help)
{
    const uint64_t n = codes->count, nbytes = (n * sizeof(uint32_t) + 63) / 64 * 64;
    const int is_here = !codes->data || kr_device_reaches(w->device, codes->data);
    if (!kr_work_goes_on(w) || kr_texts_find_missing(w, KR_NO_ROW, codes) == UINT64_MAX)
        return *codes;
    uint8_t *block = kr_work_take_or(w, (is_here ? 0 : nbytes) + n / 8 + 1, "codes of texts", help);
    uint8_t *bitmap = is_here ? block : KR_PLACE_IN(block, nbytes);
    const uint32_t mark = kr_work_mark(w);
    kr_column known = *codes;
    if (!is_here) {
        known.data = block;
        KR_STEP(
            w, kr_column_bring_bytes(w->device, block, codes->data, n * sizeof(uint32_t), w->stream, w->err));
    }
    const kr_column here = kr_column_bring(w, &known, "a copy of codes");
    const texts_present_params present = {here.data, here.validity, here.validity_offset,
                                          kr_work_take_or(w, n, "which texts have codes", help)};
    kr_work_run(w, &texts_present, &present, n);
    kr_bitmap_pack(w, present.flags, n, bitmap);
    kr_work_give_since(w, mark);
    known.validity = bitmap;
    known.validity_offset = 0;
    return known;
}
