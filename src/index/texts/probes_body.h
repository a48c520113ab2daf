/* Counts of texts become bounds and codes of probes. */
#ifndef KEYRAY_INDEX_TEXTS_PROBES_BODY_H
#define KEYRAY_INDEX_TEXTS_PROBES_BODY_H

#include "base/program/program.h"
#include <keyray/common.h>

/* lower[i], upper[i]: which texts satisfy probe i, those from lower to below upper; KR_NO_ROW: there is no
 * probe. They become codes that satisfy it, upper included; the lower one is larger where there are none. */
typedef struct texts_range_params {
    uint32_t *lower, *upper;
} texts_range_params;
kr_assert_size(texts_range_params, 16);

KR_BODY void texts_range_probe(const texts_range_params *p, uint64_t i)
{
    const uint32_t from = p->lower[i], to = p->upper[i];
    const int any = from < to && to != KR_NO_ROW;
    p->lower[i] = any ? from : 1;
    p->upper[i] = any ? to - 1 : 0;
}
KR_MAP_PROGRAM(texts_range, texts_range_params, texts_range_probe);

/* codes[i]: how many texts are below what is looked for. It becomes the code of the last of them (is_below),
 * or of the first of the others. flags[i] := 1 if there is such a code. */
typedef struct texts_near_params {
    uint32_t *codes;
    uint8_t *flags;
    uint32_t is_below, n;
} texts_near_params;
kr_assert_size(texts_near_params, 24);

KR_BODY void texts_near_probe(const texts_near_params *p, uint64_t i)
{
    const uint32_t count = p->codes[i];
    const int any = count != KR_NO_ROW && (p->is_below ? count > 0 : count < p->n);
    p->codes[i] = any ? count - p->is_below : 0;
    p->flags[i] = (uint8_t)any;
}
KR_MAP_PROGRAM(texts_near, texts_near_params, texts_near_probe);

#endif
