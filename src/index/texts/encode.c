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
