/* The body of look.c. */
#ifndef KEYRAY_INDEX_KINDS_LOOK_SIMD_BODY_H
#define KEYRAY_INDEX_KINDS_LOOK_SIMD_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"
#include "index/kinds/look_params.h"

typedef struct look_counts {
    uint64_t highest, lowest_not, count, falls, repeats;
} look_counts;

KR_BODY void look_code(look_counts *c, uint64_t code)
{
    c->highest = code > c->highest ? code : c->highest;
    c->lowest_not = ~code > c->lowest_not ? ~code : c->lowest_not;
}

KR_BODY void look_pair(look_counts *c, uint64_t before, uint64_t code)
{
    c->falls |= code < before;
    c->repeats |= code == before;
}

/* Neighbours are compared in columns without NULLs only: then none lies between them. */
KR_BODY void look_some(const look_params *p, kr_group group, uint64_t i, look_counts *c)
{
    for (uint32_t round = 0; round < KR_RUN; ++round) {
        const uint64_t at = kr_group_run_at(group, i, round);
        if (at >= p->n)
            break;
        if (!kr_code_is_valid(p->validity, p->offset, at))
            continue;
        const uint64_t code = kr_code_load(p->type, p->values, at);
        ++c->count;
        look_code(c, code);
        if (at && !p->validity)
            look_pair(c, kr_code_load(p->type, p->values, at - 1), code);
    }
}

/* A whole run of one thread without NULLs, which is not the first: a loop that is vectors where `type` is a
 * constant. */
KR_BODY void look_whole(uint32_t type, const void *values, uint64_t first, look_counts *c)
{
    for (uint64_t at = first; at < first + KR_RUN; ++at) {
        const uint64_t code = kr_code_load(type, values, at);
        look_code(c, code);
        look_pair(c, kr_code_load(type, values, at - 1), code);
    }
    c->count += KR_RUN;
}

KR_BODY void look_run(kr_group group, const look_params *p, uint64_t i, uint64_t n)
{
    const int is_whole = group.size == 1 && i && (i + 1) * KR_RUN <= p->n && !p->validity;
    look_counts c = {0, 0, 0, 0, 0};
    (void)n;
    if (is_whole && p->type == KR_U32)
        look_whole(KR_U32, p->values, i * KR_RUN, &c);
    else if (is_whole && (p->type == KR_I32 || p->type == KR_DATE32))
        look_whole(KR_I32, p->values, i * KR_RUN, &c);
    else if (is_whole && p->type == KR_U64)
        look_whole(KR_U64, p->values, i * KR_RUN, &c);
    else if (is_whole && (p->type == KR_I64 || p->type == KR_TIMESTAMP64))
        look_whole(KR_I64, p->values, i * KR_RUN, &c);
    else
        look_some(p, group, i, &c);
    kr_group_max64(group, c.highest, p->found + LOOK_HIGHEST);
    kr_group_max64(group, c.lowest_not, p->found + LOOK_LOWEST_NOT);
    kr_group_add64(group, c.count, p->found + LOOK_COUNT);
    kr_group_max64(group, c.falls, p->found + LOOK_FALLS);
    kr_group_max64(group, c.repeats, p->found + LOOK_REPEATS);
}
KR_GROUP_PROGRAM(look_keys, look_params, look_run);

#endif
