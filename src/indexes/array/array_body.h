/* The bodies of kind `array`: back-to-front binary search (Henneberg and Schuhknecht, "Is Binary Search
 * Really All You Need?", Listing 1, but started one past the end, or keys above the largest would find it)
 * and the K-ary search over the same array that the paper rejects (AO+KS).
 *
 * Invariant of the search: every entry at `at` or later has key >= lower. It ends at the first such entry.
 * A span's end is then found by galloping from there, so that the cost follows the number of matches. */
#ifndef KEYRAY_INDEXES_ARRAY_ARRAY_BODY_H
#define KEYRAY_INDEXES_ARRAY_ARRAY_BODY_H

#include "core/batch.h"
#include "program/program.h"

typedef struct array_params {
    kr_batch batch;
    kr_put put;
    const void *entries;  /* soa: the keys; aos: packed (key, row id) entries of sizeof(kr_key) + 4 bytes */
    const uint32_t *rows; /* soa only */
    uint32_t n;
    uint32_t top; /* the largest power of two <= n, 0 when n is 0 */
    uint32_t k;   /* fan-out of the K-ary search */
    uint32_t aos;
} array_params;
kr_assert_size(array_params, 128);

typedef struct array_state {
    kr_key lower, upper;
    uint32_t at; /* the search's bound, then the end of the span found so far */
    uint32_t step;
    uint32_t first; /* of the span */
    uint32_t phase; /* ARRAY_* */
} array_state;

enum { ARRAY_SEARCH, ARRAY_GALLOP, ARRAY_DESCEND, ARRAY_NOTHING };

KR_BODY const uint32_t *array_entry(const array_params *p, int aos, uint64_t i)
{
    const uint32_t words = sizeof(kr_key) / 4 + (aos ? 1 : 0);
    return (const uint32_t *)p->entries + i * words;
}

KR_BODY kr_key array_key(const array_params *p, int aos, uint64_t i)
{
    const uint32_t *words = array_entry(p, aos, i);
#if KR_KEY_BITS == 32
    return kr_load(words);
#else
    if (!aos)
        return kr_load((const kr_key *)p->entries + i);
    return kr_load(words) | (kr_key)kr_load(words + 1) << 32; /* 12-byte entries: 4-byte aligned */
#endif
}

KR_BODY uint32_t array_row(const array_params *p, int aos, uint64_t i)
{
    return aos ? kr_load(array_entry(p, 1, i) + sizeof(kr_key) / 4) : kr_load(p->rows + i);
}

KR_BODY int array_begin(const array_params *p, uint64_t i, array_state *s)
{
    s->at = p->n;
    s->step = p->top;
    s->first = p->n;
    s->phase = kr_batch_load(&p->batch, i, &s->lower, &s->upper) && p->n ? ARRAY_SEARCH : ARRAY_NOTHING;
    return s->phase == ARRAY_SEARCH;
}

/* One halving; 0 when the first entry >= lower is known. The comparison becomes a mask: as a branch it would
 * be mispredicted every other time. */
KR_BODY int array_search(const array_params *p, int aos, array_state *s)
{
    if (s->step <= s->at) {
        const uint32_t taken = array_key(p, aos, s->at - s->step) >= s->lower;
        s->at -= s->step & (0u - taken);
    }
    s->step >>= 1;
    if (s->step <= s->at)
        kr_prefetch(array_entry(p, aos, s->at - s->step));
    return s->step != 0;
}

/* One step towards the first entry > upper, from s->first on. */
KR_BODY int array_extend(const array_params *p, int aos, array_state *s)
{
    const int within =
        s->step <= p->n - s->at && array_key(p, aos, (uint64_t)s->at + s->step - 1) <= s->upper;
    if (within)
        s->at += s->step;
    if (s->phase == ARRAY_GALLOP && within && s->step < 0x80000000u) {
        s->step <<= 1;
        return 1;
    }
    s->phase = ARRAY_DESCEND;
    s->step >>= 1;
    return s->step != 0;
}

KR_BODY int array_step_span(const array_params *p, int aos, array_state *s)
{
    if (s->phase != ARRAY_SEARCH)
        return array_extend(p, aos, s);
    if (array_search(p, aos, s))
        return 1;
    s->first = s->at;
    s->phase = ARRAY_GALLOP;
    s->step = 1;
    return 1;
}

KR_BODY void array_end_first(const array_params *p, int aos, uint64_t i, array_state *s)
{
    const int found = s->phase != ARRAY_NOTHING && s->at < p->n && array_key(p, aos, s->at) <= s->upper;
    kr_put_first(&p->put, i, found, found && p->put.what == KR_PUT_ROW ? array_row(p, aos, s->at) : 0);
}

KR_BODY void array_end_span(const array_params *p, uint64_t i, array_state *s)
{
    kr_put_span(&p->put, i, s->first, s->phase == ARRAY_NOTHING ? s->first : s->at);
}

/* ---- K-ary: the entries first .. at - 1 are cut into k pieces of `step`, by k - 1 pivots ---- */

KR_BODY int array_begin_kary(const array_params *p, uint64_t i, array_state *s)
{
    const int any = array_begin(p, i, s);
    s->first = any ? 0 : p->n; /* keys before it are < lower */
    return any;
}

KR_BODY int array_search_kary(const array_params *p, array_state *s)
{
    const uint32_t left = s->at - s->first, piece = left / p->k + (left % p->k != 0);
    uint32_t j = 1;
    for (; j < p->k && (uint64_t)j * piece < left; ++j) {
        const uint32_t pivot = s->first + j * piece;
        if (array_key(p, (int)p->aos, pivot - 1) >= s->lower) {
            s->at = pivot - 1;
            break;
        }
    }
    s->first += (j - 1) * piece;
    if (s->first > s->at)
        s->first = s->at;
    return left > 1;
}

KR_BODY int array_step_kary(const array_params *p, array_state *s)
{
    if (s->at == s->first)
        return 0;
    if (s->at - s->first == 1) { /* one candidate left */
        if (array_key(p, (int)p->aos, s->first) >= s->lower)
            s->at = s->first;
        else
            s->first = s->at;
        return 0;
    }
    return array_search_kary(p, s);
}

KR_BODY int array_step_kary_span(const array_params *p, array_state *s)
{
    if (s->phase != ARRAY_SEARCH)
        return array_extend(p, (int)p->aos, s);
    if (array_step_kary(p, s))
        return 1;
    s->first = s->at;
    s->phase = ARRAY_GALLOP;
    s->step = 1;
    return 1;
}

/* ---- The programs: layout is a constant of the hot ones, so that it costs nothing there ----- */

#define ARRAY_LAYOUT(name, aos)                                                \
    KR_BODY int name##_search(const array_params *p, array_state *s)           \
    {                                                                          \
        return array_search(p, aos, s);                                        \
    }                                                                          \
    KR_BODY int name##_extend(const array_params *p, array_state *s)           \
    {                                                                          \
        return array_step_span(p, aos, s);                                     \
    }                                                                          \
    KR_BODY void name##_end(const array_params *p, uint64_t i, array_state *s) \
    {                                                                          \
        array_end_first(p, aos, i, s);                                         \
    }
ARRAY_LAYOUT(array_soa, 0)
ARRAY_LAYOUT(array_aos, 1)

KR_BODY void array_end_kary(const array_params *p, uint64_t i, array_state *s)
{
    array_end_first(p, (int)p->aos, i, s);
}

KR_PROBE_PROGRAM(array_first_soa, array_params, array_state, array_begin, array_soa_search, array_soa_end);
KR_PROBE_PROGRAM(array_first_aos, array_params, array_state, array_begin, array_aos_search, array_aos_end);
KR_PROBE_PROGRAM(array_first_kary, array_params, array_state, array_begin_kary, array_step_kary,
                 array_end_kary);
KR_PROBE_PROGRAM(array_span_soa, array_params, array_state, array_begin, array_soa_extend, array_end_span);
KR_PROBE_PROGRAM(array_span_aos, array_params, array_state, array_begin, array_aos_extend, array_end_span);
KR_PROBE_PROGRAM(array_span_kary, array_params, array_state, array_begin_kary, array_step_kary_span,
                 array_end_span);

/* ---- Building layout=aos ------------------------------------------------------------------ */

typedef struct array_pack_params {
    const kr_key *keys;
    const uint32_t *rows;
    uint32_t *entries;
} array_pack_params;

KR_BODY void array_pack_entry(const array_pack_params *p, uint64_t i)
{
    const uint32_t key_words = sizeof(kr_key) / 4;
    uint32_t *entry = p->entries + i * (key_words + 1);
    const kr_key key = kr_load(p->keys + i);
    entry[0] = (uint32_t)key;
#if KR_KEY_BITS == 64
    entry[1] = (uint32_t)(key >> 32);
#endif
    entry[key_words] = kr_load(p->rows + i);
}
KR_MAP_PROGRAM(array_pack, array_pack_params, array_pack_entry);

#endif
