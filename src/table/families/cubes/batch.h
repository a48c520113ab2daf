/* Conditions under way: members of a batch, which are answered together, stage by stage. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_BATCH_H
#define KEYRAY_TABLE_FAMILIES_CUBES_BATCH_H

#include "table/families/cubes/parts.h"

/* A plan: the parts of a conjunction, one for each stage; or the conjunctions of an OR, all in one stage. */
typedef struct cubes_member {
    kr_batch_job *asked; /* NULL: of cubes_select */
    uint32_t *bitmap;
    cubes_part *parts;
    uint32_t n_parts, is_or;
    uint32_t n_stages;
    uint32_t *spare; /* a second bitmap, if there are several stages */
} cubes_member;

typedef struct cubes_batch {
    kr_work *work;
    const cubes_table *table;
    const kr_scan_notes *notes;
    const uint32_t *alive;
    cubes_member members[KR_SELECTS_MOST];
    uint32_t n, n_stages;
} cubes_batch;

/* ---- Members (members.c) --------------------------------------------------------------------- */

/* Make parts, which cubes_parts_release releases, also after a failure. */
kr_status cubes_member_of_conjunction(const cubes_table *table, const kr_select *job, cubes_member *m,
                                      kr_error *err);
/* *is_taken: 0 for a plan with an OR, unless one scene answers it: the member is then not made. */
kr_status cubes_member_of_plan(const cubes_table *table, const kr_plan *plan, cubes_member *m, int *is_taken,
                               kr_error *err);
/* Steps of a report. */
void cubes_member_log(const cubes_member *m, kr_scan_log *log);

/* ---- Stages (stages.c) ----------------------------------------------------------------------- */

/* Answers all members. Enqueues. */
void cubes_stages_answer(cubes_batch *b);

#endif
