/* The body of composite.c. */
#ifndef KEYRAY_INDEX_LOOKUP_COMPOSITE_BODY_H
#define KEYRAY_INDEX_LOOKUP_COMPOSITE_BODY_H

#include "base/program/program.h"
#include "index/kinds/nearest.h"

typedef struct composite_reach_params {
    const void *probes;
    uint64_t *lower, *upper; /* codes */
    kr_nearby near;
} composite_reach_params;
kr_assert_size(composite_reach_params, 40);

/* The code farthest from the probe's that it reaches: from it down (`up` 0), or up to `top`. It reaches
 * itself, and whatever lies between. */
KR_BODY uint64_t nearby_farthest(const kr_nearby *near, uint64_t probe, uint64_t top, int up)
{
    const int is_float = near->type == KR_F32 || near->type == KR_F64;
    const int is_limited = (near->how & KR_NEAR_LIMITED) != 0;
    uint64_t reached = probe, end = up ? top : 0, distance;
    if (!is_float) {
        const uint64_t room = up ? top - probe : probe;
        const uint64_t step = is_limited && near->tolerance < room ? near->tolerance : room;
        return up ? probe + step : probe - step;
    }
    if (up ? kr_near_reaches(near, probe, end, &distance) : kr_near_reaches(near, end, probe, &distance))
        return end;
    while (up ? end - reached > 1 : reached - end > 1) { /* `end` is out of reach */
        const uint64_t middle = up ? reached + (end - reached) / 2 : end + (reached - end) / 2;
        const int reaches = up ? kr_near_reaches(near, probe, middle, &distance)
                               : kr_near_reaches(near, middle, probe, &distance);
        reached = reaches ? middle : reached;
        end = reaches ? end : middle;
    }
    return reached;
}

/* Bounds of the codes that may answer: the lower one is larger where there are none. */
KR_BODY void nearby_reach(const composite_reach_params *p, uint64_t i)
{
    const kr_nearby *near = &p->near;
    const uint32_t type = near->type;
    const uint64_t top = ~(uint64_t)0 >> (64 - kr_type_significant_bits(type));
    const uint64_t probe = kr_code_load(type, p->probes, i);
    const int below = (near->how & KR_NEAR_BELOW) != 0, above = (near->how & KR_NEAR_ABOVE) != 0;
    const int is_strict = (near->how & KR_NEAR_STRICT) != 0 && below != above;
    uint64_t lower = probe, upper = probe;
    int any = !kr_near_is_nan(near, probe);
    if (any && below)
        lower = nearby_farthest(near, probe, top, 0);
    if (any && above)
        upper = nearby_farthest(near, probe, top, 1);
    if (is_strict && below) {
        any = any && upper > lower;
        upper -= any;
    } else if (is_strict) {
        any = any && lower < upper;
        lower += any;
    }
    p->lower[i] = any ? lower : 1;
    p->upper[i] = any ? upper : 0;
}
KR_MAP_PROGRAM(composite_reach, composite_reach_params, nearby_reach);

#endif
