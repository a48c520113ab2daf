/* The bodies of join.c. */
#ifndef KEYRAY_JOINS_JOIN_BODY_H
#define KEYRAY_JOINS_JOIN_BODY_H

#include "core/batch.h"
#include "program/program.h"

/* Pairs of a batch's matches. Probe i's partners are partners[offsets[i] ..]; in an outer join a probe
 * without any gets one pair with KR_NO_ROW. */
typedef struct pairs_params {
    const uint64_t *matched; /* offsets of the matches, n + 1 */
    uint64_t *offsets;       /* offsets of the pairs, n + 1 */
    const uint32_t *partners;
    uint32_t *probe_rows;
    uint32_t *partner_rows; /* NULL: semi and anti joins keep the probes only */
    uint32_t join;          /* kr_join_type */
    uint32_t reserved;
} pairs_params;
kr_assert_size(pairs_params, 48);

KR_BODY uint64_t pairs_of(const pairs_params *p, uint64_t i)
{
    const uint64_t matches = kr_load(p->matched + i + 1) - kr_load(p->matched + i);
    switch (p->join) {
    case KR_JOIN_SEMI: return matches != 0;
    case KR_JOIN_ANTI: return matches == 0;
    case KR_JOIN_LEFT: return matches ? matches : 1;
    default: return matches;
    }
}

/* offsets[i] := pairs of probe i, of which the caller takes the prefix sum */
KR_BODY void pairs_count(const pairs_params *p, uint64_t i)
{
    p->offsets[i] = pairs_of(p, i);
}
KR_MAP_PROGRAM(join_pairs_count, pairs_params, pairs_count);

KR_BODY void pairs_write(const pairs_params *p, uint64_t i)
{
    const uint64_t first = kr_load(p->matched + i), matches = kr_load(p->matched + i + 1) - first;
    const uint64_t to = p->offsets[i], count = pairs_of(p, i);
    for (uint64_t j = 0; j < count; ++j) {
        p->probe_rows[to + j] = (uint32_t)i;
        if (p->partner_rows)
            p->partner_rows[to + j] = j < matches ? kr_load(p->partners + first + j) : KR_NO_ROW;
    }
}
KR_MAP_PROGRAM(join_pairs_write, pairs_params, pairs_write);

/* Marks the indexed rows that some probe found, one byte a row. */
typedef struct marks_params {
    const uint32_t *partners;
    uint8_t *marks;
    uint64_t *counts; /* n + 1 */
} marks_params;
kr_assert_size(marks_params, 24);

KR_BODY void marks_set(const marks_params *p, uint64_t i)
{
    p->marks[kr_load(p->partners + i)] = 1;
}
KR_MAP_PROGRAM(join_marks_set, marks_params, marks_set);

/* counts[i] := 1 where row i is marked, so that a prefix sum makes offsets of it */
KR_BODY void marks_count(const marks_params *p, uint64_t i)
{
    p->counts[i] = p->marks[i];
}
KR_MAP_PROGRAM(join_marks_count, marks_params, marks_count);

#endif
