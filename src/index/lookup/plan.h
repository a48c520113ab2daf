/* The order in which a batch is searched. */
#ifndef KEYRAY_INDEX_LOOKUP_PLAN_H
#define KEYRAY_INDEX_LOOKUP_PLAN_H

#include "index/kinds/index.h"

/* The orders in which probes are searched. */
enum {
    KR_SEARCHED_AS_IS,
    KR_SEARCHED_SORTED,
    KR_SEARCHED_PARTITIONED,
    KR_SEARCHED_DIVIDED, /* part by part of a divided index (index/kept) */
    KR_SEARCHED_WAYS
};
/* "as-is", "sorted", "partitioned", "divided". */
const char *kr_order_searched_name(uint32_t way);

/* What a divided index did for a lookup. */
enum {
    KR_KEPT_TRAVELS, /* parts that travelled to the device; one that did so twice counts twice */
    KR_KEPT_NBYTES,  /* of these */
    KR_KEPT_ON_HOST, /* probes that the CPU answered */
    KR_KEPT_FACTS
};

/* How many probes of a lookup were searched in each order. */
typedef struct kr_probe_log {
    uint64_t probes[KR_SEARCHED_WAYS];
    uint64_t kept[KR_KEPT_FACTS];
} kr_probe_log;

/* How a batch is searched: in pieces, each sorted by some bits of its codes, or partitioned by keys of the
 * index. */
typedef struct kr_probe_plan {
    uint32_t way;       /* KR_SEARCHED_* */
    const char *reason; /* static text */
    uint64_t piece;     /* probes located at a time: a multiple of 64 */
    uint32_t sorted;    /* 1: sorted by these bits */
    uint32_t first_bit, end_bit;
    uint32_t part_bits; /* partitioned in 2^part_bits parts (index/partition/partition.h); 0: not */
    uint32_t segment;   /* then: probes of a part that a block takes, at most */
} kr_probe_plan;

/* What the plan depends on. */
typedef struct kr_probe_case {
    const kr_device *device;
    const kr_spec *spec;
    uint64_t rows, footprint_nbytes; /* of the index */
    uint32_t key_bits;               /* low bits in which its keys differ */
    uint32_t significant_bits;       /* of the type's codes */
    uint64_t n_probes;
    uint32_t is_divided; /* 1: a divided index, as a whole */
} kr_probe_case;

kr_probe_plan kr_order_plan_probes(const kr_probe_case *of);
void kr_order_plan_batch(const kr_index *index, uint64_t n_probes, kr_probe_plan *plan);
/* Of a batch that is in the order of keys already. */
kr_probe_plan kr_order_plan_in_order(void);

#endif
