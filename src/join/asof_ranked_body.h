/* The bodies of asof_ranked.c. */
#ifndef KEYRAY_JOIN_ASOF_RANKED_BODY_H
#define KEYRAY_JOIN_ASOF_RANKED_BODY_H

#include "base/program/program.h"
#include "index/kinds/nearest.h"

/* ---- The nearer of two rows, or none --------------------------------------------------------- */

typedef struct asof_choose_params {
    const uint32_t *below, *above; /* right rows, or KR_NO_ROW; NULL: that side is not wanted */
    const void *left, *right;      /* times */
    uint32_t *out;
    kr_nearby near;
    uint64_t type;
} asof_choose_params;
kr_assert_size(asof_choose_params, 64);

KR_BODY void asof_choose_row(const asof_choose_params *p, uint64_t i)
{
    const uint32_t type = (uint32_t)p->type;
    const uint64_t time = kr_code_load(type, p->left, i);
    const uint32_t below = p->below ? p->below[i] : KR_NO_ROW, above = p->above ? p->above[i] : KR_NO_ROW;
    uint64_t down = 0, up = 0;
    const int has_below =
        below != KR_NO_ROW && kr_near_reaches(&p->near, kr_code_load(type, p->right, below), time, &down);
    const int has_above =
        above != KR_NO_ROW && kr_near_reaches(&p->near, time, kr_code_load(type, p->right, above), &up);
    p->out[i] = has_below && (!has_above || down <= up) ? below : has_above ? above : KR_NO_ROW;
}
KR_MAP_PROGRAM(asof_choose, asof_choose_params, asof_choose_row);

#endif
