/* The programs of list.c: row ids of a part to the lists of their probes. */
#ifndef KEYRAY_INDEX_KEPT_LIST_BODY_H
#define KEYRAY_INDEX_KEPT_LIST_BODY_H

#include "base/program/program.h"

/* Rows of the stops of a part, one stop after the other. */
typedef struct list_params {
    const uint32_t *rows;
    const uint32_t *places;  /* of each row: the place of its stop in the part */
    const uint64_t *local;   /* of each place: the rows before it in the part */
    const uint32_t *order;   /* of each place: its stop */
    const uint32_t *probes;  /* of each stop; NULL: stop i is probe i's */
    const uint64_t *offsets; /* of each probe: where its list begins and ends */
    uint64_t *seen;          /* of each probe: its rows in the parts before; NULL: none */
    uint32_t *out;
    uint64_t from, n_rows; /* the offset of out[0]; rows that fit */
    uint64_t base;         /* rows of the part before rows[0] */
} list_params;
kr_assert_size(list_params, 88);

KR_BODY uint64_t list_probe(const list_params *p, uint64_t place)
{
    const uint32_t stop = kr_load(p->order + place);
    return p->probes ? kr_load(p->probes + stop) : stop;
}

/* Where row r of the copied ones goes, if its list has so many rows and they are among those wanted. */
KR_BODY void list_put_row(const list_params *p, uint64_t r)
{
    const uint64_t place = kr_load(p->places + r), probe = list_probe(p, place);
    const uint64_t before = p->seen ? kr_load(p->seen + probe) : 0;
    const uint64_t at = kr_load(p->offsets + probe) + before + (p->base + r - kr_load(p->local + place));
    if (at < kr_load(p->offsets + probe + 1) && at >= p->from && at - p->from < p->n_rows)
        p->out[at - p->from] = kr_load(p->rows + r);
}
KR_MAP_PROGRAM(list_put, list_params, list_put_row);

/* A probe has one stop in a part. */
KR_BODY void list_pass_place(const list_params *p, uint64_t place)
{
    p->seen[list_probe(p, place)] += kr_load(p->local + place + 1) - kr_load(p->local + place);
}
KR_MAP_PROGRAM(list_pass, list_params, list_pass_place);

#endif
