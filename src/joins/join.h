/* Joins through an index: one side is indexed, the other probes it. */
#ifndef KEYRAY_JOINS_JOIN_H
#define KEYRAY_JOINS_JOIN_H

#include "joins/pairs.h"

/* The kind, and 1 in *indexes_left if the left side is to be indexed; fills spec, device, indexed and the
 * costs of *info. */
kr_status kr_join_decide(const kr_join_job *job, kr_spec *spec, int *indexes_left, kr_join_info *info,
                         kr_error *err);
kr_status kr_join_build(const kr_join_job *job, const kr_spec *spec, const kr_column *indexed,
                        kr_index **index, kr_error *err);
/* Fills join->left, right and info, and adds to its phases. Blocks. */
kr_status kr_join_run(const kr_join_job *job, kr_join *join, kr_error *err);

/* Hands over the result in chunks of at most cap_nbytes, 8 per pair; `chunk` NULL: counts it only. The
 * indexed side and a piece of the other are on the device. Blocks. */
kr_status kr_join_chunks_run(const kr_join_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk, void *ctx,
                             uint64_t *pairs, kr_error *err);

#endif
