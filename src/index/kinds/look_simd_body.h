/* The body of look.c. */
#ifndef KEYRAY_INDEX_KINDS_LOOK_SIMD_BODY_H
#define KEYRAY_INDEX_KINDS_LOOK_SIMD_BODY_H

#include "base/key/divide.h"
#include "base/key/key.h"
#include "base/program/program.h"
#include "index/kinds/look_params.h"

/* From a thread's key to its next, and how many a GPU reads before it looks at the first. */
enum { LOOK_STRIDE = KR_ON_CUDA ? 32 : 1, LOOK_AT_ONCE = KR_ON_CUDA ? 8 : KR_RUN };

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
        c->count += p->validity != NULL;
        look_code(c, code);
        if (at && !p->validity)
            look_pair(c, kr_code_load(p->type, p->values, at - 1), code);
    }
}

/* A whole run without NULLs, which is not the first: a loop that is vectors on a CPU where `type` is a
 * constant, and reads ahead on a GPU. */
KR_BODY void look_whole(uint32_t type, const void *values, uint64_t first, look_counts *c)
{
    for (uint64_t from = first; from < first + KR_RUN * LOOK_STRIDE; from += LOOK_AT_ONCE * LOOK_STRIDE) {
        KR_UNROLL
        for (uint32_t j = 0; j < LOOK_AT_ONCE; ++j) {
            const uint64_t at = from + j * LOOK_STRIDE;
            const uint64_t code = kr_code_load(type, values, at);
            look_code(c, code);
            look_pair(c, kr_code_load(type, values, at - 1), code);
        }
    }
}

KR_BODY void look_run(kr_group group, const look_params *p, uint64_t i, uint64_t n)
{
    const uint64_t first = kr_group_run_at(group, i, 0), behind = i - group.rank + group.size;
    const int is_whole = i >= group.size && behind * KR_RUN <= p->n && !p->validity;
    look_counts c = {0, 0, 0, 0, 0};
    (void)n;
    if (is_whole && p->type == KR_U32)
        look_whole(KR_U32, p->values, first, &c);
    else if (is_whole && (p->type == KR_I32 || p->type == KR_DATE32))
        look_whole(KR_I32, p->values, first, &c);
    else if (is_whole && p->type == KR_U64)
        look_whole(KR_U64, p->values, first, &c);
    else if (is_whole && (p->type == KR_I64 || p->type == KR_TIMESTAMP64))
        look_whole(KR_I64, p->values, first, &c);
    else
        look_some(p, group, i, &c);
    kr_group_max64(group, c.highest, p->found + LOOK_HIGHEST);
    kr_group_max64(group, c.lowest_not, p->found + LOOK_LOWEST_NOT);
    if (p->validity)
        kr_group_add64(group, c.count, p->found + LOOK_COUNT);
    kr_group_max64(group, c.falls, p->found + LOOK_FALLS);
    kr_group_max64(group, c.repeats, p->found + LOOK_REPEATS);
}
KR_GROUP_PROGRAM(look_keys, look_params, look_run);

KR_BODY void look_rest_run(kr_group group, const look_rests_params *p, uint64_t i, uint64_t n)
{
    const look_params *l = &p->look;
    uint64_t most = 0;
    (void)n;
    for (uint32_t round = 0; round < KR_RUN; ++round) {
        const uint64_t at = kr_group_run_at(group, i, round);
        if (at >= l->n)
            break;
        if (!kr_code_is_valid(l->validity, l->offset, at))
            continue;
        const uint64_t above = kr_code_load(l->type, l->values, at) - p->lowest;
        const uint64_t rest = above - kr_code_divide64(above, p->magic, p->shift) * p->step;
        most = rest > most ? rest : most;
    }
    kr_group_max64(group, most, l->found);
}
KR_GROUP_PROGRAM(look_rests, look_rests_params, look_rest_run);

#endif
