/* LIKE: which codes have a text that a pattern matches. */
#include "index/texts/match_body.h"
#include "index/texts/texts.h"

#include <stdlib.h>

/* Texts at a time, and bytes of their words where a piece of the pattern has more than one. */
enum { TEXTS = 1 << 22, WORDS_NBYTES = 1 << 24 };

/* ---- Patterns -------------------------------------------------------------------------------- */

/* A pattern cut at each %, with what texts_match reads, in host memory. */
typedef struct cut {
    texts_piece *pieces;
    uint32_t *borders;
    uint64_t *masks;
    uint64_t n, n_masks, words; /* words: of the longest piece with _ */
} cut;

static void cut_pieces(cut *c, const uint16_t *pattern, uint64_t n)
{
    for (uint64_t at = 0, end; at <= n; at = end + 1) {
        int has_one = 0;
        for (end = at; end < n && pattern[end] != KR_STRINGS_ANY; ++end)
            has_one |= pattern[end] == KR_STRINGS_ONE;
        const uint64_t words = has_one ? (end - at + 63) / 64 : 0;
        if (end == at && at > 0)
            continue;
        c->pieces[c->n++] = (texts_piece){at, end - at, words, c->n_masks};
        c->n_masks += 257 * words;
        c->words = words > c->words ? words : c->words;
    }
}

/* borders[i]: how many bytes, but not all, are both the end and the beginning of bytes[0 .. i]. */
static void fill_borders(const uint16_t *bytes, uint64_t n, uint32_t *borders)
{
    for (uint64_t i = 1; i < n; ++i) {
        uint32_t k = borders[i - 1];
        while (k && bytes[k] != bytes[i])
            k = borders[k - 1];
        borders[i] = bytes[k] == bytes[i] ? k + 1 : 0;
    }
}

static void fill_masks(const uint16_t *elements, const texts_piece *piece, uint64_t *masks)
{
    for (uint64_t i = 0; i < piece->n; ++i)
        masks[(elements[i] == KR_STRINGS_ONE ? 256 : elements[i]) * piece->words + i / 64] |= (uint64_t)1
                                                                                              << i % 64;
}

static void release_cut(cut *c)
{
    free(c->masks);
    free(c->borders);
    free(c->pieces);
}

/* The caller releases it, also after a failure. */
static cut cut_pattern(kr_work *w, const uint16_t *pattern, uint64_t n)
{
    cut c = {.pieces = kr_work_array(w, n + 1, sizeof *c.pieces, "a pattern"),
             .borders = kr_work_array(w, n + 1, sizeof *c.borders, "a pattern")};
    if (!kr_work_goes_on(w))
        return c;
    cut_pieces(&c, pattern, n);
    c.masks = kr_work_array(w, c.n_masks + 1, sizeof *c.masks, "a pattern");
    for (uint64_t i = 0; i < c.n && kr_work_goes_on(w); ++i) {
        const texts_piece *piece = c.pieces + i;
        if (piece->words)
            fill_masks(pattern + piece->first, piece, c.masks + piece->masks);
        else
            fill_borders(pattern + piece->first, piece->n, c.borders + piece->first);
    }
    return c;
}

/* ---- Matches --------------------------------------------------------------------------------- */

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

static const void *put(kr_work *w, const void *host, uint64_t nbytes)
{
    void *here = kr_work_take_constants(w, nbytes, "a pattern", NULL);
    if (nbytes)
        kr_work_write_constants(w, here, host, nbytes);
    return here;
}

void kr_texts_match(kr_work *w, const kr_texts *texts, const uint16_t *pattern, uint64_t n_pattern,
                    uint32_t first, uint32_t n, const kr_texts_runs *runs)
{
    const uint32_t mark = kr_work_mark(w), end = first + n;
    uint32_t open = KR_NO_ROW, most = n < TEXTS ? n : TEXTS;
    if (!n || !kr_work_goes_on(w))
        return;
    cut c = cut_pattern(w, pattern, n_pattern);
    if (c.words > 1 && most > WORDS_NBYTES / sizeof *c.masks / c.words)
        most = (uint32_t)(WORDS_NBYTES / sizeof *c.masks / c.words) + 1;
    texts_match_params params = {
        .texts = kr_texts_strings(texts),
        .pattern = put(w, pattern, n_pattern * sizeof *pattern),
        .pieces = put(w, c.pieces, c.n * sizeof *c.pieces),
        .borders = put(w, c.borders, n_pattern * sizeof *c.borders),
        .masks = put(w, c.masks, c.n_masks * sizeof *c.masks),
        .moved = kr_work_take(w, c.words > 1 ? most * c.words * sizeof *c.masks : 0, "words of a pattern"),
        .matched = kr_work_take(w, most, "texts that a pattern matches"),
        .n_pieces = c.n,
        .words = (uint32_t)c.words,
        .is_open = n_pattern && pattern[n_pattern - 1] == KR_STRINGS_ANY};
    uint8_t *here = kr_work_array(w, most, 1, "texts that a pattern matches");
    for (uint32_t at = first, piece; at < end && kr_work_goes_on(w); at += piece) {
        piece = end - at < most ? end - at : most;
        params.first = at;
        kr_work_run(w, &texts_match, &params, piece);
        kr_work_read(w, here, params.matched, piece);
        if (kr_work_goes_on(w) && !add_runs(here, at, piece, &open, runs))
            KR_STEP(w, KR_ERR_HOST_MEMORY);
    }
    if (open != KR_NO_ROW && kr_work_goes_on(w) && !runs->add(runs->ctx, open, end - 1))
        KR_STEP(w, KR_ERR_HOST_MEMORY);
    free(here);
    release_cut(&c);
    kr_work_give_since(w, mark);
}
