#include "index/texts/encode.h"
#include "index/results/bitmap.h"
#include "index/texts/encode_body.h"

kr_column kr_texts_make_codes(kr_work *w, const kr_texts *texts, const kr_column *strings, const char *what,
                              const char *help)
{
    const uint64_t n = strings->count, nbytes = (n * sizeof(uint32_t) + 63) / 64 * 64;
    uint8_t *block = kr_work_take_or(w, nbytes + n / 8 + 1, "codes of texts", help);
    uint8_t *bitmap = KR_PLACE_IN(block, nbytes);
    uint8_t *flags = kr_work_take_or(w, n, "which texts have codes", help);
    const texts_known_params known = {(uint32_t *)(void *)block, flags};
    if (kr_work_goes_on(w))
        kr_texts_find(w, texts, strings, what, known.codes);
    kr_work_run(w, &texts_known, &known, n);
    kr_bitmap_pack(w, flags, n, bitmap);
    kr_work_give(w, flags);
    return (kr_column){
        .type = KR_U32, .count = n, .data = block, .validity = bitmap, .dictionary = texts->id};
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
