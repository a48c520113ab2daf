/* Joins through an index: one side is indexed, the other probes it. */
#ifndef KEYRAY_JOIN_JOIN_H
#define KEYRAY_JOIN_JOIN_H

#include "join/groups.h"

/* Fills join->left, right and info, and adds to its phases. Blocks. */
void kr_join_run(kr_work *work, const kr_join_job *job, kr_join *join);

/* The same of a join with ranges of the right side whose rows must be equal in groups, too. */
void kr_join_grouped_run(kr_work *work, const kr_join_job *job, const kr_join_groups *groups, kr_join *join);

/* Hands over the result in chunks of at most cap_nbytes, 8 per pair; `chunk` NULL: counts it only. Returns
 * how many pairs or rows it has. The indexed side and a piece of the other are on the device. Blocks. */
uint64_t kr_join_chunks_run(kr_work *work, const kr_join_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk,
                            void *ctx);

#endif
