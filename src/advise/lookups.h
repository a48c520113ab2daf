/* The lookups that are asked of every index in a round, and the updates. */
#ifndef KEYRAY_ADVISE_LOOKUPS_H
#define KEYRAY_ADVISE_LOOKUPS_H

#include "advise/plan.h"

enum { KR_ADVISE_POINTS, KR_ADVISE_RANGES, KR_ADVISE_ASKS };

/* Values in host memory, and where the device reads them. */
typedef struct kr_advise_values {
    void *host, *device; /* device: host, on a CPU */
} kr_advise_values;

/* Points, or ranges. */
typedef struct kr_advise_ask {
    uint64_t n, room; /* lookups; how many there is memory for */
    uint64_t n_sums;  /* the first of them, whose row ids are added up to compare */
    uint64_t batch;
    uint64_t found, hits;       /* rows of all; lookups with rows */
    int is_cut;                 /* ranges with too many rows were left out */
    kr_advise_values bounds[2]; /* of points the first only */
} kr_advise_ask;

typedef struct kr_advise_lookups {
    kr_advise_subject s;
    const kr_column *keys; /* of the caller */
    kr_column taken;       /* of these rows, those at hand: all, but of texts whose dictionary takes long */
    const kr_advise_options *options;
    kr_texts *texts;
    kr_advise_column whole, sample;
    kr_advise_column given[3]; /* probes, lower, upper; without a type: none */
    kr_advise_column *now;     /* whole or sample */
    kr_advise_ask asks[KR_ADVISE_ASKS];
    void *out, *out_host; /* 8 bytes for each lookup, on the device and here */
    uint64_t out_n;
    void *inserts, *deletes; /* of all updates of an index */
    uint64_t n_deletes;      /* keys that each of them deletes; all are distinct */
    kr_advise_facts facts;
} kr_advise_lookups;

enum { KR_ADVISE_UPDATES = 3 }; /* of an index */

/* How many lookups of *w->now a pass has at most. */
uint64_t kr_advise_lookups_of(const kr_advise_lookups *w);
/* Makes the lookups of *w->now, but for misses, which kr_advise_lookups_settle makes. */
kr_status kr_advise_lookups_make(kr_advise_lookups *w, kr_error *err);
void kr_advise_lookups_free(kr_advise_lookups *w);
/* With an index of these rows: makes misses, counts what is found, and copies lookups to the device. */
kr_status kr_advise_lookups_settle(kr_advise_lookups *w, kr_index *index, kr_error *err);

/* Lookups [first, first + n), whose answers go to their places in `out`: of the device, or `out_host`. */
kr_status kr_advise_lookups_ask(kr_advise_lookups *w, kr_index *index, int which, kr_result result,
                                uint64_t first, uint64_t n, int from_host, kr_error *err);

#endif
