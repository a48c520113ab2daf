/* Lookups of nearest keys. A family searches for the probe's own key, as for KR_PUT_MATCH: `first` entries
 * are below it, `end` are not above it. The entries next to these two positions are all that can answer.
 *
 *   at or below   entry end - 1, the last one of its key        below   entry first - 1
 *   at or above   entry first, the first one of its key         above   entry end
 *
 * Where both directions are asked for, the nearer entry answers, and of two equally near the lower one. NULL
 * and NaN probes have no answer, and NaN keys answer nothing. */
#ifndef KEYRAY_INDEX_KINDS_NEAREST_H
#define KEYRAY_INDEX_KINDS_NEAREST_H

#include "index/kinds/batch.h"

/* kr_nearby.how */
enum {
    KR_NEAR_BELOW = 1,    /* keys at or below the probe */
    KR_NEAR_ABOVE = 2,    /* keys at or above it */
    KR_NEAR_STRICT = 4,   /* the probe's own key is none of them */
    KR_NEAR_LIMITED = 8,  /* nor are keys farther away than `tolerance` */
    KR_NEAR_GROUPED = 16, /* nor are keys that differ from the probe above the lowest `low_bits` bits */
    KR_NEAR_RANK = 32 /* KR_PUT_ROW only: the number of entries at or below the probe (STRICT: below it) */
};

KR_BOTH uint64_t kr_near_low(const kr_nearby *near, uint64_t code)
{
    return near->how & KR_NEAR_GROUPED && near->low_bits < 64 ? code & (((uint64_t)1 << near->low_bits) - 1)
                                                              : code;
}

/* From a lower code to a higher one: an integer, or a double's bits, which are in the order of distances. */
KR_BODY uint64_t kr_near_distance(const kr_nearby *near, uint64_t low, uint64_t high)
{
    const uint64_t from = kr_near_low(near, low), to = kr_near_low(near, high);
    if (near->type != KR_F32 && near->type != KR_F64)
        return to - from;
    return from == to ? 0 : kr_bits_of_f64(kr_code_float(near->type, to) - kr_code_float(near->type, from));
}

/* The code of NaN, or a code that no value has. */
KR_BODY int kr_near_is_nan(const kr_nearby *near, uint64_t code)
{
    const uint32_t bits = near->how & KR_NEAR_GROUPED ? near->low_bits : kr_type_key_bits(near->type);
    return (near->type == KR_F32 || near->type == KR_F64) &&
           kr_near_low(near, code) == ~(uint64_t)0 >> (64 - bits);
}

/* Whether the keys of two codes, low <= high, are near enough for each other; then *distance is theirs. */
KR_BODY int kr_near_reaches(const kr_nearby *near, uint64_t low, uint64_t high, uint64_t *distance)
{
    if (near->how & KR_NEAR_GROUPED && low - kr_near_low(near, low) != high - kr_near_low(near, high))
        return 0;
    if (kr_near_is_nan(near, high))
        return 0;
    *distance = kr_near_distance(near, low, high);
    return !(near->how & KR_NEAR_LIMITED) || *distance <= near->tolerance;
}

/* The probe's own key in the index. */
typedef struct kr_span {
    uint64_t probe;      /* its code */
    uint32_t first, end; /* entries below it; entries not above it */
    uint32_t any;        /* 0: a NULL probe, or no entries: nothing answers */
} kr_span;

/* The answer to probe i:
 *
 *   KR_NEAREST(name, context_t, key_at, row_at, where_at)
 *       uint64_t key_at(const context_t *, uint32_t position)    the code of an entry, by its place in key
 * order uint32_t row_at(const context_t *, uint32_t position)    its row id uint32_t where_at(const context_t
 * *, uint32_t position)  kr_match.where of it alone void name(context, near, put, i, n, span) n: entries in
 * all */
#define KR_NEAREST(name, context_t, key_at, row_at, where_at)                                               \
    /* Whether the entry answers; without need its key is not read. */                                      \
    KR_BODY int name##_reaches(const context_t *c, const kr_nearby *near, uint32_t at, int below,           \
                               uint64_t probe, uint64_t *distance)                                          \
    {                                                                                                       \
        const int both = KR_NEAR_BELOW | KR_NEAR_ABOVE;                                                     \
        const int floats_above = !below && (near->type == KR_F32 || near->type == KR_F64);                  \
        if (!floats_above && !(near->how & (KR_NEAR_LIMITED | KR_NEAR_GROUPED)) &&                          \
            (near->how & both) != both)                                                                     \
            return 1;                                                                                       \
        const uint64_t key = key_at(c, at);                                                                 \
        return below ? kr_near_reaches(near, key, probe, distance)                                          \
                     : kr_near_reaches(near, probe, key, distance);                                         \
    }                                                                                                       \
    KR_BODY void name(const context_t *c, const kr_nearby *near, const kr_put *put, uint64_t i, uint32_t n, \
                      const kr_span *span)                                                                  \
    {                                                                                                       \
        const int any = span->any && !kr_near_is_nan(near, span->probe),                                    \
                  strict = near->how & KR_NEAR_STRICT;                                                      \
        const uint32_t below = strict ? span->first : span->end, above = strict ? span->end : span->first;  \
        uint64_t down = 0, up = 0;                                                                          \
        kr_put to = *put;                                                                                   \
        to.what = put->nearest;                                                                             \
        if (near->how & KR_NEAR_RANK) {                                                                     \
            kr_put_first(&to, i, any, below);                                                               \
            return;                                                                                         \
        }                                                                                                   \
        const int has_below = any && near->how & KR_NEAR_BELOW && below &&                                  \
                              name##_reaches(c, near, below - 1, 1, span->probe, &down);                    \
        const int has_above = any && near->how & KR_NEAR_ABOVE && above < n &&                              \
                              name##_reaches(c, near, above, 0, span->probe, &up);                          \
        const int found = has_below || has_above;                                                           \
        const uint32_t at = has_below && (!has_above || down <= up) ? below - 1 : above;                    \
        if (kr_put_wants_first(&to))                                                                        \
            kr_put_first(&to, i, found, found &&to.what == KR_PUT_ROW ? row_at(c, at) : 0);                 \
        else                                                                                                \
            kr_put_match(&to, i, found ? where_at(c, at) : 0, (uint32_t)found);                             \
    }                                                                                                       \
    KR_BODY void name(const context_t *c, const kr_nearby *near, const kr_put *put, uint64_t i, uint32_t n, \
                      const kr_span *span)

#endif
