/* As-of joins: each left row gets the right row whose time is nearest, among the right rows of its group. */
#ifndef KEYRAY_JOIN_ASOF_H
#define KEYRAY_JOIN_ASOF_H

#include "join/keys.h"

/* A checked join. */
typedef struct kr_asof_job {
    const char *spec;
    const kr_column *left, *right;       /* times */
    const kr_column *left_by, *right_by; /* n_by columns of each side, at most KR_BY_MOST */
    uint32_t n_by;
    kr_nearby near; /* of times */
    kr_join_type type;
} kr_asof_job;

/* Fills join->left, right and info. Blocks. */
void kr_asof_run(kr_work *work, const kr_asof_job *job, kr_join *join);

#endif
