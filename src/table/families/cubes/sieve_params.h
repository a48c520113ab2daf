/* The parameters of the programs that sieve. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_SIEVE_PARAMS_H
#define KEYRAY_TABLE_FAMILIES_CUBES_SIEVE_PARAMS_H

#include "base/program/program.h"

enum { CUBES_SIEVE_AXES = 3, CUBES_SIEVE_VECTORS = 256 };

typedef struct cubes_sieve_axis {
    const uint32_t *words;
    uint64_t stride;
    uint32_t n_vectors, inverts;
    uint16_t vectors[CUBES_SIEVE_VECTORS];
} cubes_sieve_axis;
kr_assert_size(cubes_sieve_axis, 536);

typedef struct cubes_sieve_params {
    uint32_t *bitmap;
    const uint32_t *alive; /* or NULL */
    uint64_t *found;       /* where to count the rows that are left; or NULL */
    uint64_t n_rows;
    uint32_t n_axes, reserved;
    cubes_sieve_axis axes[CUBES_SIEVE_AXES];
} cubes_sieve_params;
kr_assert_size(cubes_sieve_params, 1648);

/* ---- Batches --------------------------------------------------------------------------------- */

/* Vectors first_vector .. end_vector - 1 of a list; `ends`: the last axis of a conjunction. */
typedef struct cubes_sieve_leaf {
    const uint32_t *words;
    uint64_t stride;
    uint32_t first_vector, end_vector;
    uint32_t inverts, ends;
} cubes_sieve_leaf;
kr_assert_size(cubes_sieve_leaf, 32);

/* The rows of any of the conjunctions whose leaves are first_leaf .. end_leaf - 1. */
typedef struct cubes_sieve_job {
    uint32_t *bitmap;
    const uint32_t *alive; /* or NULL */
    uint32_t first_leaf, end_leaf;
} cubes_sieve_job;
kr_assert_size(cubes_sieve_job, 24);

typedef struct cubes_sieve_batch_params {
    const cubes_sieve_job *jobs;
    const cubes_sieve_leaf *leaves;
    const uint32_t *vectors;
    uint64_t *found; /* as in cubes_sieve_params */
    uint64_t n_rows;
    uint32_t n_jobs, reserved;
} cubes_sieve_batch_params;
kr_assert_size(cubes_sieve_batch_params, 48);

/* Words of an element. */
enum { CUBES_SIEVE_CHUNK = 128 };

#endif
