/* Text columns as programs see them: one way to read a row of any of the six types, and what is done with the
 * bytes of a text.
 *
 * A column is whatever a caller gave. Reading a row checks it, so that no program looks behind the bytes that
 * are there; a program notes the first row that is broken (kr_strings_note), and the host says why
 * (kr_strings_refuse). */
#ifndef KEYRAY_INDEX_TEXTS_STRINGS_H
#define KEYRAY_INDEX_TEXTS_STRINGS_H

#include "base/key/key.h"
#include "base/program/program.h"

enum { KR_STRINGS_OFFSETS32, KR_STRINGS_OFFSETS64, KR_STRINGS_VIEWS };
/* Bytes of a view, and of a text that lies in its view. */
enum { KR_STRINGS_VIEW = 16, KR_STRINGS_INLINE = 12 };
/* Texts of so many bytes are long: several threads hash and compare them together. Their hash is made of that
 * many lanes. A CPU hashes shorter ones sooner in one chain. */
enum { KR_STRINGS_LONG = 512, KR_STRINGS_LANES = 32 };

/* All arrays in memory of the device. */
typedef struct kr_strings {
    const void *data;              /* offsets or views */
    const uint8_t *bytes;          /* of offsets */
    const kr_text_buffer *buffers; /* of views */
    const uint8_t *validity;       /* NULL: all rows are valid */
    uint64_t validity_offset;
    uint64_t base, end; /* of offsets: the offsets of bytes[0] and of the byte behind them; of views end is
                           the number of buffers */
    uint32_t form;      /* KR_STRINGS_* */
    uint32_t each;      /* not 0: every text has so many bytes, and no offset need be read */
} kr_strings;
kr_assert_size(kr_strings, 64);

/* A text. */
typedef struct kr_strings_text {
    const uint8_t *bytes;
    uint64_t n;
} kr_strings_text;

/* What is wrong with a row; 0: nothing. */
enum {
    KR_STRINGS_WHOLE,
    KR_STRINGS_FALL,      /* offsets fall */
    KR_STRINGS_OUTSIDE,   /* offsets reach behind the bytes */
    KR_STRINGS_NEGATIVE,  /* a view's length or offset is below 0 */
    KR_STRINGS_NO_BUFFER, /* a view names a buffer that is not there */
    KR_STRINGS_BEHIND,    /* a view reaches behind its buffer */
    KR_STRINGS_PREFIX,    /* a view and its buffer have other first bytes */
    KR_STRINGS_REASONS
};

KR_BODY int kr_strings_is_valid(const kr_strings *s, uint64_t row)
{
    return kr_code_is_valid(s->validity, s->validity_offset, row);
}

KR_BODY uint32_t kr_strings_read_offsets(const kr_strings *s, uint64_t row, kr_strings_text *text)
{
    const int wide = s->form == KR_STRINGS_OFFSETS64;
    const int64_t *far = (const int64_t *)s->data;
    const int32_t *near = (const int32_t *)s->data;
    if (s->each) {
        text->bytes = s->bytes + row * s->each;
        text->n = s->each;
        return KR_STRINGS_WHOLE;
    }
    const int64_t from = wide ? kr_load(far + row) : kr_load(near + row);
    const int64_t to = wide ? kr_load(far + row + 1) : kr_load(near + row + 1);
    if (to < from)
        return KR_STRINGS_FALL;
    if (from < 0 || (uint64_t)from < s->base || (uint64_t)to > s->end)
        return KR_STRINGS_OUTSIDE;
    text->bytes = from == to ? NULL : s->bytes + ((uint64_t)from - s->base);
    text->n = (uint64_t)(to - from);
    return KR_STRINGS_WHOLE;
}

KR_BODY uint32_t kr_strings_read_view(const kr_strings *s, uint64_t row, kr_strings_text *text)
{
    const uint8_t *view = (const uint8_t *)s->data + row * KR_STRINGS_VIEW;
    const int32_t *words = (const int32_t *)(const void *)view;
    const int32_t n = kr_load(words);
    text->n = (uint64_t)n;
    text->bytes = view + 4;
    if (n < 0)
        return KR_STRINGS_NEGATIVE;
    if (n <= KR_STRINGS_INLINE)
        return KR_STRINGS_WHOLE;
    const int32_t buffer = kr_load(words + 2), from = kr_load(words + 3);
    if (buffer < 0 || (uint64_t)buffer >= s->end)
        return KR_STRINGS_NO_BUFFER;
    if (from < 0)
        return KR_STRINGS_NEGATIVE;
    if ((uint64_t)from + (uint64_t)n > s->buffers[buffer].nbytes)
        return KR_STRINGS_BEHIND;
    text->bytes = (const uint8_t *)s->buffers[buffer].data + from;
    for (int j = 0; j < 4; ++j)
        if (text->bytes[j] != view[4 + j])
            return KR_STRINGS_PREFIX;
    return KR_STRINGS_WHOLE;
}

/* The text of a row; an empty one of a NULL row. Returns KR_STRINGS_WHOLE, or what is wrong. Offsets of NULL
 * rows are checked, too; their views may hold anything. */
KR_BODY uint32_t kr_strings_read(const kr_strings *s, uint64_t row, kr_strings_text *text)
{
    const int valid = kr_strings_is_valid(s, row);
    uint32_t wrong = KR_STRINGS_WHOLE;
    if (s->form != KR_STRINGS_VIEWS)
        wrong = kr_strings_read_offsets(s, row, text);
    else if (valid)
        wrong = kr_strings_read_view(s, row, text);
    if (!valid || wrong) {
        text->bytes = NULL;
        text->n = 0;
    }
    return wrong;
}

/* Of a column that was checked. */
KR_BODY kr_strings_text kr_strings_get(const kr_strings *s, uint64_t row)
{
    kr_strings_text text = {NULL, 0};
    (void)kr_strings_read(s, row, &text);
    return text;
}

/* A CPU that reads texts here and there asks for them before: first for where a text is, then for its bytes
 * from `at` on. A view's bytes are read where it is checked, so they are not asked for. */
enum { KR_STRINGS_AHEAD = 32, KR_STRINGS_BYTES_AHEAD = 16 };

KR_BODY void kr_strings_ask(const kr_strings *s, uint64_t row)
{
#if !KR_ON_CUDA
    if (s->form == KR_STRINGS_VIEWS)
        kr_prefetch((const char *)s->data + row * KR_STRINGS_VIEW);
    else if (!s->each)
        kr_prefetch((const char *)s->data + row * (s->form == KR_STRINGS_OFFSETS64 ? 8 : 4));
#else
    (void)s, (void)row;
#endif
}

KR_BODY void kr_strings_ask_bytes(const kr_strings *s, uint64_t row, uint64_t at, uint64_t n)
{
#if !KR_ON_CUDA
    if (s->form != KR_STRINGS_VIEWS) {
        const kr_strings_text text = kr_strings_get(s, row);
        const uint64_t end = at + n < text.n ? at + n : text.n;
        if (at < end) {
            kr_prefetch(text.bytes + at);
            kr_prefetch(text.bytes + end - 1);
        }
    }
#else
    (void)s, (void)row, (void)at, (void)n;
#endif
}

/* *bad, which begins as 0, becomes the first row and what is wrong with it. */
KR_BODY void kr_strings_note(uint64_t *bad, uint64_t row, uint32_t wrong)
{
    if (wrong)
        kr_atomic_max64(bad, (((uint64_t)1 << 59) - row) << 4 | wrong);
}

/* *flag, which begins as 0, becomes 1. Most rows only read it. */
KR_BODY void kr_strings_note_once(uint64_t *flag)
{
    if (!kr_atomic_load64(flag))
        kr_atomic_max64(flag, 1);
}

/* ---- Bytes ------------------------------------------------------------------------------------ */

/* Eight bytes, the first in the low bits. */
KR_BODY uint64_t kr_strings_load(const uint8_t *bytes)
{
    uint64_t word = 0;
#if KR_ON_CUDA
    if (((uintptr_t)bytes & 7) == 0)
        return kr_load((const uint64_t *)(const void *)bytes);
    if (((uintptr_t)bytes & 3) == 0)
        return kr_load((const uint32_t *)(const void *)bytes) |
               (uint64_t)kr_load((const uint32_t *)(const void *)(bytes + 4)) << 32;
    if (((uintptr_t)bytes & 1) == 0) {
        const uint16_t *pairs = (const uint16_t *)(const void *)bytes;
        return kr_load(pairs) | (uint32_t)kr_load(pairs + 1) << 16 | (uint64_t)kr_load(pairs + 2) << 32 |
               (uint64_t)kr_load(pairs + 3) << 48;
    }
    for (uint32_t j = 0; j < 8; ++j)
        word |= (uint64_t)kr_load(bytes + j) << 8 * j;
#else
    kr_copy_bytes(&word, bytes, 8);
#endif
    return word;
}

/* The eight bytes from `at` on, those behind the end as 0. */
KR_BODY uint64_t kr_strings_word(kr_strings_text text, uint64_t at)
{
    uint64_t word = 0;
    if (at + 8 <= text.n)
        return kr_strings_load(text.bytes + at);
    if (at >= text.n)
        return 0;
    if (text.n >= 8)
        return kr_strings_load(text.bytes + text.n - 8) >> 8 * (8 - (text.n - at));
    for (uint64_t j = at; j < text.n; ++j)
        word |= (uint64_t)text.bytes[j] << 8 * (j - at);
    return word;
}

/* Bytes in the other order. */
KR_BODY uint64_t kr_strings_turn(uint64_t x)
{
    x = (x & (uint64_t)0x00FF00FF00FF00FF) << 8 | (x >> 8 & (uint64_t)0x00FF00FF00FF00FF);
    x = (x & (uint64_t)0x0000FFFF0000FFFF) << 16 | (x >> 16 & (uint64_t)0x0000FFFF0000FFFF);
    return x << 32 | x >> 32;
}

/* A slice: the eight bytes from `at` on as a number in the order of bytes, 0 behind the end. */
KR_BODY uint64_t kr_strings_slice(kr_strings_text text, uint64_t at)
{
    return kr_strings_turn(kr_strings_word(text, at));
}

/* How many bytes both begin with; they share the first `from`. */
KR_BODY uint64_t kr_strings_common(kr_strings_text a, kr_strings_text b, uint64_t from)
{
    const uint64_t n = a.n < b.n ? a.n : b.n;
    for (; from + 8 <= n; from += 8)
        if (kr_strings_load(a.bytes + from) != kr_strings_load(b.bytes + from))
            break;
    while (from < n && a.bytes[from] == b.bytes[from])
        ++from;
    return from;
}

/* 0: the next sixteen bytes are the same. A GPU asks for all of them before it looks at any. */
KR_BODY uint64_t kr_strings_differ(const uint8_t *a, const uint8_t *b)
{
#if KR_ON_CUDA
    const uintptr_t places = (uintptr_t)a | (uintptr_t)b;
    if ((places & 15) == 0) {
        uint64_t x[2], y[2];
        kr_load_pair((const uint64_t *)(const void *)a, x);
        kr_load_pair((const uint64_t *)(const void *)b, y);
        return (x[0] ^ y[0]) | (x[1] ^ y[1]);
    }
    if ((places & 3) == 0) {
        const uint32_t *x = (const uint32_t *)(const void *)a, *y = (const uint32_t *)(const void *)b;
        return (kr_load(x) ^ kr_load(y)) | (kr_load(x + 1) ^ kr_load(y + 1)) |
               (kr_load(x + 2) ^ kr_load(y + 2)) | (kr_load(x + 3) ^ kr_load(y + 3));
    }
#endif
    return (kr_strings_load(a) ^ kr_strings_load(b)) | (kr_strings_load(a + 8) ^ kr_strings_load(b + 8));
}

/* Long texts of one length seem equal to a thread alone. */
KR_BODY int kr_strings_seem_equal(kr_strings_text a, kr_strings_text b)
{
    uint64_t at = 0;
    if (a.n != b.n)
        return 0;
    if (a.n < 8)
        return kr_strings_word(a, 0) == kr_strings_word(b, 0);
    if (a.n >= KR_STRINGS_LONG)
        return 1;
    if (a.n < 16)
        return kr_strings_load(a.bytes) == kr_strings_load(b.bytes) &&
               kr_strings_load(a.bytes + a.n - 8) == kr_strings_load(b.bytes + a.n - 8);
    for (; at + 16 <= a.n; at += 16)
        if (kr_strings_differ(a.bytes + at, b.bytes + at))
            return 0;
    if (a.n - at <= 8)
        return at == a.n || kr_strings_load(a.bytes + a.n - 8) == kr_strings_load(b.bytes + a.n - 8);
    return !kr_strings_differ(a.bytes + a.n - 16, b.bytes + a.n - 16);
}

/* The low and the high half of the product, folded. */
KR_BODY uint64_t kr_strings_fold(uint64_t a, uint64_t b)
{
    return a * b ^ kr_product_high64(a, b);
}

/* The hash of a text under two secret numbers. Each word is multiplied by a secret: with one that is known,
 * differences that cancel each other could be made without knowing where the hash stands. */
typedef struct kr_strings_seed {
    uint64_t start, factor; /* the factor is odd */
} kr_strings_seed;

/* Of a text that is not long. */
KR_BODY uint64_t kr_strings_hash(kr_strings_text text, kr_strings_seed seed)
{
    uint64_t hash = seed.start ^ text.n * (uint64_t)0x9E3779B97F4A7C15;
    for (uint64_t at = 0; at < text.n; at += 8)
        hash = kr_strings_fold(hash ^ kr_strings_word(text, at), seed.factor);
    return kr_strings_fold(hash ^ seed.factor, seed.start | 1);
}

/* The hash of a long text is that of its lanes: lane r has words r, r + KR_STRINGS_LANES, and so on. Where
 * each lane begins is a secret, too, so what stands in one cannot be moved to another. */
KR_BODY uint64_t kr_strings_lane(uint64_t n, uint32_t lane, kr_strings_seed seed)
{
    return (seed.start + lane * (uint64_t)0xD6E8FEB86659FD93) ^ n * (uint64_t)0x9E3779B97F4A7C15;
}

/* In four chains, which a processor computes beside each other. */
KR_BODY uint64_t kr_strings_hash_lanes(const uint64_t *lanes, uint64_t n, kr_strings_seed seed)
{
    enum { CHAINS = 4 };
    uint64_t hash = seed.start ^ n * (uint64_t)0x9E3779B97F4A7C15, chains[CHAINS];
    KR_UNROLL
    for (uint32_t c = 0; c < CHAINS; ++c)
        chains[c] = lanes[c];
    for (uint32_t r = CHAINS; r < KR_STRINGS_LANES; r += CHAINS) {
        KR_UNROLL
        for (uint32_t c = 0; c < CHAINS; ++c)
            chains[c] = kr_strings_fold(chains[c] ^ lanes[r + c], seed.factor);
    }
    KR_UNROLL
    for (uint32_t c = 0; c < CHAINS; ++c)
        hash = kr_strings_fold(hash ^ chains[c], seed.factor);
    return kr_strings_fold(hash ^ seed.factor, seed.start | 1);
}

/* ---- Characters ------------------------------------------------------------------------------------ */

/* What patterns of LIKE have beside bytes: any text, any character. */
enum { KR_STRINGS_ANY = 256, KR_STRINGS_ONE };

/* Where the next character begins. A byte that begins no sequence of UTF-8 is a character of its own. */
KR_BODY uint64_t kr_strings_next(kr_strings_text text, uint64_t at)
{
    const int is_first = text.bytes[at] >= 0xC0;
    ++at;
    while (is_first && at < text.n && (text.bytes[at] & 0xC0) == 0x80)
        ++at;
    return at;
}

#endif
