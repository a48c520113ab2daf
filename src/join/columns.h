/* Joins on several columns: rows that are equal in all of them. */
#ifndef KEYRAY_JOIN_COLUMNS_H
#define KEYRAY_JOIN_COLUMNS_H

#include "join/keys.h"

/* A checked join; `how` has everything but the sides. */
typedef struct kr_columns_job {
    kr_join_job how;
    const kr_column *left, *right; /* n columns of each side */
    uint32_t n;                    /* 1 to KR_BY_MOST */
} kr_columns_job;

/* As kr_join_run. */
void kr_join_columns_run(kr_work *work, const kr_columns_job *job, kr_join *join);

#endif
