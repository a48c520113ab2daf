/* Which side of a join to index: the cost rule of KR_INVERSE_AUTO. */
#ifndef KEYRAY_JOIN_COST_H
#define KEYRAY_JOIN_COST_H

#include "base/devices/device.h"
#include "index/kinds/kind.h"

/* Seconds, on a GPU or on a CPU of one thread: good to compare with each other, not with a clock. */
typedef struct kr_join_costs {
    double left, right; /* with that side indexed */
} kr_join_costs;

typedef struct kr_join_shape {
    const kr_device *device;
    const kr_kind *kind;
    uint64_t left, right; /* rows */
    double pairs;         /* about how many there are */
    uint32_t in_order;    /* 1: pairs are sorted by left row */
    uint32_t is_range;    /* 1: the right side is ranges */
    uint32_t is_pairs;    /* 0: only left rows are wanted */
    uint32_t
        is_bits; /* 1: with the right side indexed, values of right rows become bits, and no index is made */
} kr_join_shape;

kr_join_costs kr_join_cost(const kr_join_shape *shape);

/* 1: keys of that kind are addressed, not searched: they lie close together. */
int kr_join_addresses(const kr_kind *kind);

#endif
