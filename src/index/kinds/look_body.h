/* The body of look.c. */
#ifndef KEYRAY_INDEX_KINDS_LOOK_BODY_H
#define KEYRAY_INDEX_KINDS_LOOK_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"

/* What is counted of a column: the largest of all codes and of all complements, rows that are not NULL; 1: a
 * code is below the one before it, or equal to it. */
enum { LOOK_HIGHEST, LOOK_LOWEST_NOT, LOOK_COUNT, LOOK_FALLS, LOOK_REPEATS, LOOK_FOUND };

typedef struct look_params {
    const void *values;
    const uint8_t *validity; /* or NULL */
    uint64_t *found;         /* LOOK_FOUND counters */
    uint64_t offset;         /* of the validity bitmap, in bits */
    uint64_t n;
    uint32_t type, reserved;
} look_params;
kr_assert_size(look_params, 48);

/* Neighbours are compared in columns without NULLs only: then none lies between them. */
KR_BODY void look_run(kr_group group, const look_params *p, uint64_t i, uint64_t n)
{
    uint64_t highest = 0, lowest_not = 0, count = 0, falls = 0, repeats = 0;
    (void)n;
    for (uint32_t round = 0; round < KR_RUN; ++round) {
        const uint64_t at = kr_group_run_at(group, i, round);
        if (at >= p->n)
            break;
        if (!kr_code_is_valid(p->validity, p->offset, at))
            continue;
        const uint64_t code = kr_code_load(p->type, p->values, at);
        ++count;
        highest = code > highest ? code : highest;
        lowest_not = ~code > lowest_not ? ~code : lowest_not;
        if (at == 0 || p->validity)
            continue;
        const uint64_t before = kr_code_load(p->type, p->values, at - 1);
        falls |= code < before;
        repeats |= code == before;
    }
    kr_group_max64(group, highest, p->found + LOOK_HIGHEST);
    kr_group_max64(group, lowest_not, p->found + LOOK_LOWEST_NOT);
    kr_group_add64(group, count, p->found + LOOK_COUNT);
    kr_group_max64(group, falls, p->found + LOOK_FALLS);
    kr_group_max64(group, repeats, p->found + LOOK_REPEATS);
}
KR_GROUP_PROGRAM(look_keys, look_params, look_run);

#endif
