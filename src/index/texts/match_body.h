/* Texts that a pattern of LIKE matches.
 *
 * A pattern is cut at each %. Its pieces are looked for one behind the other, each as early as it ends:
 * whatever follows then has the most room. So no piece is looked for twice, and a text is read once. A piece
 * of bytes goes by the borders of its beginnings (Knuth, Morris and Pratt), in time proportional to the text.
 * Where _ is in a piece, a step for each byte of the text moves all of its beginnings at once, in words of 64
 * elements (Baeza-Yates and Gonnet, shift-and): the text times the words of the piece.
 *
 * % is any bytes, and _ one of the characters that the text consists of (kr_strings_next). */
#ifndef KEYRAY_INDEX_TEXTS_MATCH_BODY_H
#define KEYRAY_INDEX_TEXTS_MATCH_BODY_H

#include "index/texts/strings.h"

/* What is between two %, or at an end of the pattern. */
typedef struct texts_piece {
    uint64_t first, n; /* elements of the pattern */
    uint64_t words;    /* 64 elements each; 0: all are bytes */
    uint64_t masks;    /* of the first byte, in texts_match_params.masks */
} texts_piece;
kr_assert_size(texts_piece, 32);

typedef struct texts_match_params {
    kr_strings texts;
    const uint16_t *pattern;   /* bytes, KR_STRINGS_ONE */
    const texts_piece *pieces; /* the first is where texts begin, even if it is empty; no other is */
    const uint32_t *borders;   /* of element i: of its piece up to there, how much is its end and beginning */
    const uint64_t *masks;     /* for each byte, then for _: which elements of the piece it is, in words */
    uint64_t *moved;           /* words for each text, of pieces with more than one */
    uint8_t *matched;          /* 1: text first + i matches */
    uint64_t n_pieces, first;
    uint32_t words;   /* of the longest piece with _ */
    uint32_t is_open; /* 1: a % is the end, 0: texts end with the last piece */
} texts_match_params;
kr_assert_size(texts_match_params, 136);

/* How far a text is read, and of a byte up to there whether it is within or behind a character that
 * bytes 80 to BF would go on. */
typedef struct texts_reader {
    uint64_t at, known;
    uint32_t goes_on;
} texts_reader;

KR_BODY int texts_match_continues(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Each byte is read once in all: what is in front of `known` was decided before. */
KR_BODY uint32_t texts_match_goes_on(kr_strings_text text, texts_reader *r)
{
    uint64_t from = r->at;
    while (from > r->known && texts_match_continues(text.bytes[from - 1]))
        --from;
    if (from > r->known)
        r->goes_on = text.bytes[from - 1] >= 0xC0;
    r->known = r->at;
    return r->goes_on;
}

/* The piece that texts begin with. */
KR_BODY int texts_match_head(const texts_match_params *p, const texts_piece *piece, kr_strings_text text,
                             texts_reader *r)
{
    for (uint64_t i = 0; i < piece->n; ++i) {
        const uint16_t element = p->pattern[piece->first + i];
        if (r->at >= text.n)
            return 0;
        if (element != KR_STRINGS_ONE && element != text.bytes[r->at++])
            return 0;
        if (element != KR_STRINGS_ONE)
            continue;
        if (texts_match_continues(text.bytes[r->at]) && texts_match_goes_on(text, r))
            return 0;
        r->at = kr_strings_next(text, r->at);
    }
    return 1;
}

/* Bytes that texts end with. */
KR_BODY int texts_match_tail(const texts_match_params *p, const texts_piece *piece, kr_strings_text text,
                             uint64_t at)
{
    const uint16_t *bytes = p->pattern + piece->first;
    if (text.n - at < piece->n)
        return 0;
    for (uint64_t i = piece->n, end = text.n; i > 0; --i)
        if (bytes[i - 1] != text.bytes[--end])
            return 0;
    return 1;
}

/* Bytes anywhere from r->at on. k of them end in front of `at`. */
KR_BODY int texts_match_bytes(const texts_match_params *p, const texts_piece *piece, kr_strings_text text,
                              texts_reader *r)
{
    const uint16_t *bytes = p->pattern + piece->first;
    const uint32_t *borders = p->borders + piece->first;
    const uint16_t first = bytes[0];
    uint64_t k = 0;
    for (uint64_t at = r->at; at < text.n; ++at) {
        const uint16_t byte = text.bytes[at];
        if (!k && byte != first)
            continue;
        while (k && bytes[k] != byte)
            k = borders[k - 1];
        if (bytes[k] == byte && ++k == piece->n) {
            r->at = at + 1;
            return 1;
        }
    }
    return 0;
}

/* A step: bit i of `moved` becomes whether elements 0 .. i are what ends behind this byte. Returns the last.
 * An element _ stays set within its character, and nothing follows it there. */
KR_BODY uint64_t texts_match_move(const uint64_t *masks, const uint64_t *ones, const texts_piece *piece,
                                  uint32_t goes_on, uint64_t *moved)
{
    uint64_t carried = 1;
    for (uint64_t w = 0; w < piece->words; ++w) {
        const uint64_t before = moved[w], leaving = goes_on ? before & ~ones[w] : before;
        const uint64_t next = (leaving << 1 | carried) & (goes_on ? masks[w] : masks[w] | ones[w]);
        moved[w] = goes_on ? next | (before & ones[w]) : next;
        carried = leaving >> 63;
    }
    return moved[piece->words - 1] >> (piece->n - 1) % 64 & 1;
}

/* A piece with _ from r->at on: anywhere, or as the end of the text. */
KR_BODY int texts_match_ones(const texts_match_params *p, const texts_piece *piece, kr_strings_text text,
                             int is_tail, uint64_t *moved, texts_reader *r)
{
    const uint64_t *masks = p->masks + piece->masks, *ones = masks + 256 * piece->words;
    const int ends_with_one = p->pattern[piece->first + piece->n - 1] == KR_STRINGS_ONE;
    uint32_t goes_on = texts_match_goes_on(text, r);
    uint64_t is_there = 0;
    for (uint64_t w = 0; w < piece->words; ++w)
        moved[w] = 0;
    for (; r->at < text.n; ++r->at) {
        const uint8_t byte = text.bytes[r->at];
        const uint32_t is_within = texts_match_continues(byte) && goes_on;
        if (is_there && !is_tail && !(ends_with_one && is_within))
            break;
        is_there = texts_match_move(masks + byte * piece->words, ones, piece, is_within, moved);
        goes_on = is_within || byte >= 0xC0;
    }
    r->known = r->at;
    r->goes_on = goes_on;
    return is_there != 0;
}

KR_BODY int texts_match_like(const texts_match_params *p, kr_strings_text text, uint64_t *moved)
{
    texts_reader r = {0, 0, 0};
    if (!texts_match_head(p, p->pieces, text, &r))
        return 0;
    for (uint64_t i = 1; i < p->n_pieces; ++i) {
        const texts_piece *piece = p->pieces + i;
        const int is_tail = i + 1 == p->n_pieces && !p->is_open;
        const int found = piece->words ? texts_match_ones(p, piece, text, is_tail, moved, &r)
                          : is_tail    ? texts_match_tail(p, piece, text, r.at)
                                       : texts_match_bytes(p, piece, text, &r);
        if (!found)
            return 0;
    }
    return p->n_pieces > 1 || p->is_open || r.at == text.n;
}

KR_BODY void texts_match_one(const texts_match_params *p, uint64_t i)
{
    const kr_strings_text text = kr_strings_get(&p->texts, p->first + i);
    uint64_t one = 0;
    p->matched[i] = (uint8_t)texts_match_like(p, text, p->words > 1 ? p->moved + i * p->words : &one);
}
KR_MAP_PROGRAM(texts_match, texts_match_params, texts_match_one);

#endif
