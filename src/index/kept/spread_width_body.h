/* The programs of spread_width.c.
 *
 * The part of a code x is the last one whose lowest key is not above x, or part 0. So the first entry of at
 * least x is in its part or is the first of the next part, and all entries of x are in its part. */
#ifndef KEYRAY_INDEX_KEPT_SPREAD_WIDTH_BODY_H
#define KEYRAY_INDEX_KEPT_SPREAD_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/kept/spread_params.h"
#include "index/kinds/nearest.h"

KR_BODY kr_key spread_end_of(const spread_params *p, uint32_t which, uint32_t part)
{
    return kr_load((const kr_key *)p->ends + (uint64_t)which * p->n_parts + part);
}

KR_BODY uint32_t spread_part(const spread_params *p, kr_key code)
{
    uint32_t low = 0, high = p->n_parts - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (spread_end_of(p, SPREAD_LOWEST, middle) <= code)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- Nearest keys: the part of the key that answers ------------------------------------------- */

/* A key that may answer. */
typedef struct spread_key {
    uint32_t part, is_there;
    kr_key code;
} spread_key;

/* The next key below a probe whose own part is `part`. In its part it need not be known, unless the next key
 * above lies in another part. */
KR_BODY spread_key spread_below(const spread_params *p, uint32_t part, kr_key code, int strict)
{
    const kr_key lowest = spread_end_of(p, SPREAD_LOWEST, part),
                 highest = spread_end_of(p, SPREAD_HIGHEST, part);
    if (strict ? code > lowest : code >= lowest)
        return (spread_key){part, 1, code > highest ? highest : spread_end_of(p, SPREAD_LAST_BUT_ONE, part)};
    if (part == 0)
        return (spread_key){0, 0, 0};
    return (spread_key){part - 1, 1, spread_end_of(p, SPREAD_HIGHEST, part - 1)};
}

KR_BODY spread_key spread_above(const spread_params *p, uint32_t part, kr_key code, int strict)
{
    const kr_key lowest = spread_end_of(p, SPREAD_LOWEST, part),
                 highest = spread_end_of(p, SPREAD_HIGHEST, part);
    if (strict ? code < highest : code <= highest)
        return (spread_key){part, 1, code < lowest ? lowest : spread_end_of(p, SPREAD_SECOND, part)};
    if (part + 1 == p->n_parts)
        return (spread_key){part, 0, 0};
    return (spread_key){part + 1, 1, spread_end_of(p, SPREAD_LOWEST, part + 1)};
}

KR_BODY uint32_t spread_nearest(const spread_params *p, kr_key code)
{
    const kr_nearby *near = &p->batch.near;
    const uint32_t part = spread_part(p, code);
    const int strict = (near->how & KR_NEAR_STRICT) != 0;
    uint64_t down = 0, up = 0;
    if (near->how & KR_NEAR_RANK || p->is_empty)
        return part;
    const spread_key below = spread_below(p, part, code, strict), above = spread_above(p, part, code, strict);
    if (!(near->how & KR_NEAR_ABOVE))
        return below.part;
    if (!(near->how & KR_NEAR_BELOW))
        return above.part;
    if (below.part == above.part || !below.is_there)
        return above.part;
    if (!above.is_there)
        return below.part;
    const int reaches_below = kr_near_reaches(near, below.code, code, &down);
    const int reaches_above = kr_near_reaches(near, code, above.code, &up);
    return reaches_above && (!reaches_below || up < down) ? above.part : below.part;
}

/* ---- Stops ------------------------------------------------------------------------------------- */

/* The parts of probe i: from *first on, so many. */
KR_BODY uint32_t spread_parts(const spread_params *p, uint64_t i, uint32_t *first)
{
    kr_key lower, upper;
    if (!kr_batch_load(&p->batch, i, &lower, &upper))
        return 0;
    if (p->batch.near.how) {
        *first = spread_nearest(p, lower);
        return 1;
    }
    *first = spread_part(p, lower);
    return p->batch.upper ? spread_part(p, upper) - *first + 1 : 1;
}

KR_BODY void spread_count_probe(const spread_params *p, uint64_t i)
{
    uint32_t first;
    p->offsets[i] = spread_parts(p, i, &first);
}
KR_MAP_PROGRAM(spread_count, spread_params, spread_count_probe);

KR_BODY void spread_list_probe(const spread_params *p, uint64_t i)
{
    uint32_t first = 0;
    const uint32_t n = spread_parts(p, i, &first);
    const uint64_t at = p->offsets[i];
    for (uint32_t j = 0; j < n; ++j) {
        ((kr_key *)p->parts)[at + j] = first + j;
        p->probes[at + j] = (uint32_t)i;
    }
}
KR_MAP_PROGRAM(spread_list, spread_params, spread_list_probe);

/* The bounds of the stop at place j. */
KR_BODY void spread_load_stop(const spread_params *p, uint64_t j)
{
    kr_key lower, upper;
    (void)kr_batch_load(&p->batch, p->probes[p->order[j]], &lower, &upper);
    ((kr_key *)p->lower)[j] = lower;
    if (p->upper)
        ((kr_key *)p->upper)[j] = upper;
}
KR_MAP_PROGRAM(spread_load, spread_params, spread_load_stop);

#endif
