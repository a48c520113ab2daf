/* Partitions a batch by parts of the index: probes of the same part are grouped, so that the part is in the
 * caches while they are searched. Where entries have an order, the index is cut by its own keys into 2^bits
 * parts of one size, whatever the distribution of the keys; a probe belongs to the part that its lower bound
 * falls into. Families that hash have a part for each value of the top bits of the hash. Families whose
 * entries lie where their values are have even parts of the range of values.
 *
 * Two passes over the probes: one counts, one places. Tiles of probes are put in order in shared memory, so
 * that they are written in runs. A mark for each probe and the place of each run are kept. After the search
 * every tile reads its answers from those runs and puts them in order in shared memory. Nothing is sorted,
 * and no answer is scattered. */
#ifndef KEYRAY_INDEX_PARTITION_PARTITION_H
#define KEYRAY_INDEX_PARTITION_PARTITION_H

#include "index/kinds/batch.h"
#include "index/kinds/family.h"
#include "index/partition/partition_marks.h"

typedef struct kr_partition {
    kr_partition_view view;
    void *codes;     /* of the lower bounds, part by part */
    uint64_t *pairs; /* where they are asked for, in place of all else here: a value less those of parts
                        before, and its position before << 32 */
    uint32_t *marks; /* of each tile's probes in order: kr_partition_mark; none where answers stay */
    uint32_t *bases; /* for each tile and part, what to add to a place in the tile; likewise */
    uint32_t *order; /* positions before; only where upper bounds or validity need them */
    void *parts;     /* starts and segments */
    uint64_t n;
    uint32_t tile;
} kr_partition;

typedef struct kr_partition_job {
    const kr_ordered_ops *cut; /* whose cuts of `self` part the probes; NULL: see `even` */
    const void *self;          /* of at least one entry */
    uint64_t even;             /* part p has so many values from p * even on, of which each has `step` codes;
                                  0: the top bits of the probes' hash part them */
    uint64_t lowest, step;     /* of even parts: the code where values begin. Codes below it belong to the
                                  first part, those beyond all parts to the last */
    uint32_t pairs; /* 1: of even parts, each with fewer than 2^32 values, that have all codes: pairs
                       in place of codes */
    uint64_t seed;  /* of the hash */
    uint64_t n;
    uint32_t bits;
    uint32_t segment;    /* probes, at most */
    uint32_t *stay;      /* NULL, or room for n positions before: answers stay in the order of the parts */
    uint32_t with_order; /* 1: positions before are noted, also where answers go back */
} kr_partition_job;
/* Partitions n probes, at most 2^32 - 1, in 2^bits parts, 2 or more, and these in segments; changes *batch to
 * the reordered batch, but for pairs, which leave it as it is. All is scratch memory of the work.
 * Enqueues. */
kr_partition kr_partition_make_u32(kr_work *work, const kr_partition_job *job, kr_batch *batch);
kr_partition kr_partition_make_u64(kr_work *work, const kr_partition_job *job, kr_batch *batch);
/* Its bytes, of pairs, or of cuts where answers stay, without the room to stay in. */
uint64_t kr_partition_estimate_u32(const kr_partition_job *job);
uint64_t kr_partition_estimate_u64(const kr_partition_job *job);

/* out[i] := the answer of probe i. `answers` are in the order of the parts; elements have 1, 2, 4, 8 or
 * 16 bytes. Enqueues. */
void kr_partition_back(kr_work *work, const kr_partition *partition, const void *answers, uint32_t nbytes,
                       void *out);

#endif
