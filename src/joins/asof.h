/* As-of joins: each left row gets the right row whose time is nearest, among the right rows of its group. */
#ifndef KEYRAY_JOINS_ASOF_H
#define KEYRAY_JOINS_ASOF_H

#include "joins/join.h"

enum { KR_ASOF_BY_MOST = 8 };

/* A checked join. */
typedef struct kr_asof_job {
    kr_device *device;
    const char *spec;
    const kr_column *left, *right;       /* times */
    const kr_column *left_by, *right_by; /* n_by columns of each side, at most KR_ASOF_BY_MOST */
    uint32_t n_by;
    kr_nearby near; /* of times */
    kr_join_type type;
} kr_asof_job;

/* Fills join->left, right and info. Blocks. */
kr_status kr_asof_run(const kr_asof_job *job, kr_join *join, kr_error *err);

/* ---- What the files of as-of joins share ----------------------------------------------------- */

/* The columns of both sides, in device memory. */
typedef struct asof_side {
    kr_resident time, by[KR_ASOF_BY_MOST];
} asof_side;

/* A join under way, all on the device's own stream. */
typedef struct asof {
    const kr_asof_job *job;
    kr_device *device;
    kr_spec spec;
    asof_side left, right;
    kr_buffer rows; /* uint32_t[left rows]: the right row of each, or KR_NO_ROW */
    kr_stopwatch watch;
    uint64_t peak_nbytes, footprint_nbytes; /* the most so far; of the largest index */
    char tracer[64];
    uint32_t merged; /* 1: no index was built */
} asof;

/* Bits that hold 0 .. largest. */
uint32_t asof_bits(uint64_t largest);

/* Builds an index of `keys`, below 2^used_bits (0: nothing is known), and keeps account of it. */
kr_status asof_index(asof *a, const kr_column *keys, uint32_t used_bits, kr_index **index, kr_error *err);
/* out[i] := the row of `near`, NULL: of an equal key, for probe i. */
kr_status asof_locate(asof *a, const kr_index *index, const kr_column *probes, const kr_nearby *near,
                      uint32_t *out, kr_error *err);
kr_status asof_allocate(asof *a, uint64_t nbytes, const char *what, kr_buffer *buffer, kr_error *err);

/* Fill a->rows. The second takes keys of any width, in more steps. */
kr_status asof_folded(asof *a, int *fits, kr_error *err);
kr_status asof_ranked(asof *a, kr_error *err);

/* By a merge, where both columns ascend and have no NULLs; *done says whether. For CPUs. */
kr_status asof_merge_u32(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near,
                         int *done, kr_error *err);
kr_status asof_merge_u64(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near,
                         int *done, kr_error *err);

/* By a merge or by an index of `right`, whose codes are below 2^used_bits. `keys` is its memory if it was
 * made for this: released once the index is there. */
kr_status asof_search(asof *a, const kr_column *left, const kr_column *right, kr_buffer *keys,
                      const kr_nearby *near, uint32_t used_bits, kr_error *err);

#endif
