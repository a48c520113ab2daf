/* LIKE: which codes have a text that a pattern matches. */
#include "index/texts/match_body.h"
#include "index/texts/texts.h"

#include <stdlib.h>

enum { PIECE = 1 << 22 };

/* The runs of ones among n bytes, which stand for the codes from `first` on. *open: where the last one began,
 * KR_NO_ROW if it has ended. */
static int add_runs(const uint8_t *matched, uint32_t first, uint32_t n, uint32_t *open,
                    const kr_texts_runs *runs)
{
    int ok = 1;
    for (uint32_t i = 0; i < n && ok; ++i) {
        if (matched[i] && *open == KR_NO_ROW) {
            *open = first + i;
        } else if (!matched[i] && *open != KR_NO_ROW) {
            ok = runs->add(runs->ctx, *open, first + i - 1);
            *open = KR_NO_ROW;
        }
    }
    return ok;
}

void kr_texts_match(kr_work *w, const kr_texts *texts, const uint16_t *pattern, uint64_t n_pattern,
                    uint32_t first, uint32_t n, const kr_texts_runs *runs)
{
    const uint32_t most = n < PIECE ? n : PIECE, mark = kr_work_mark(w), end = first + n;
    uint32_t open = KR_NO_ROW;
    if (!n || !kr_work_goes_on(w))
        return;
    uint16_t *kept = kr_work_take_constants(w, n_pattern * sizeof *kept, "a pattern", NULL);
    uint8_t *matched = kr_work_take(w, most, "texts that a pattern matches");
    uint8_t *here = kr_work_array(w, most, 1, "texts that a pattern matches");
    if (n_pattern)
        kr_work_write_constants(w, kept, pattern, n_pattern * sizeof *kept);
    for (uint32_t at = first, piece; at < end && kr_work_goes_on(w); at += piece) {
        const texts_match_params params = {kr_texts_strings(texts), kept, matched, n_pattern, at};
        piece = end - at < most ? end - at : most;
        kr_work_run(w, &texts_match, &params, piece);
        kr_work_read(w, here, matched, piece);
        if (kr_work_goes_on(w) && !add_runs(here, at, piece, &open, runs))
            KR_STEP(w, KR_ERR_HOST_MEMORY);
    }
    if (open != KR_NO_ROW && kr_work_goes_on(w) && !runs->add(runs->ctx, open, end - 1))
        KR_STEP(w, KR_ERR_HOST_MEMORY);
    free(here);
    kr_work_give_since(w, mark);
}
