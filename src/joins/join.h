/* Joins through an index: one side is indexed, the other probes it. */
#ifndef KEYRAY_JOINS_JOIN_H
#define KEYRAY_JOINS_JOIN_H

#include "lookup/query.h"

struct kr_join {
    kr_device *device;
    kr_buffer left, right; /* uint32_t[info.pairs]; right: none for semi and anti joins */
    kr_phases phases;
    kr_join_info info;
};

/* A checked join. upper NULL: equality; else the end of each right range, or, with a prepared side, of each
 * left one. */
typedef struct kr_join_job {
    kr_device *device;
    const char *spec;
    const kr_column *left, *right, *upper;
    const kr_index *prepared; /* the right side, instead of spec and right */
    kr_join_type type;
    kr_join_inverse inverse;
    int unordered;
    uint32_t used_bits; /* codes of both sides are below 2^used_bits; 0: nothing is known */
} kr_join_job;

/* 1: rows of both sides; 0: left rows only. */
static inline int kr_join_has_pairs(kr_join_type type)
{
    return type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
}

/* The kind, and 1 in *inverse if the left side is indexed; fills spec, device, indexed and the costs of
 * *info. */
kr_status kr_join_decide(const kr_join_job *job, kr_spec *spec, int *inverse, kr_join_info *info,
                         kr_error *err);
/* Memory for n rows of the result. */
kr_status kr_join_allocate(kr_device *device, uint64_t n, const char *what, kr_buffer *buffer, kr_error *err);
/* Sorts n pairs by `keys`, rows below `rows` or KR_NO_ROW; stable. */
kr_status kr_join_sort(kr_device *device, uint64_t rows, kr_buffer *keys, kr_buffer *others, uint64_t n,
                       kr_error *err);
/* The most rows that a side may have. */
kr_status kr_join_check_probes(const kr_column *probes, kr_error *err);
kr_status kr_join_build(const kr_join_job *job, const kr_spec *spec, const kr_column *indexed,
                        kr_index **index, kr_error *err);
/* Fills join->left, right and info, and adds to its phases. Blocks. */
kr_status kr_join_run(const kr_join_job *job, kr_join *join, kr_error *err);

/* Hands over the result in chunks of at most cap_nbytes, 8 per pair; `chunk` NULL: counts it only. The
 * indexed side and a piece of the other are on the device. Blocks. */
kr_status kr_join_chunks_run(const kr_join_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk, void *ctx,
                             uint64_t *pairs, kr_error *err);

#endif
