/* Joins of columns of texts: both sides become codes of one dictionary, and from there on they are joins of
 * numbers. A text that the dictionary has not is NULL then, which has no partner. So is KR_NO_ROW among codes
 * of a caller's dictionary. */
#ifndef KEYRAY_JOIN_TEXTS_H
#define KEYRAY_JOIN_TEXTS_H

#include "join/asof.h"
#include "join/columns.h"
#include "join/join.h"
#include "join/overlap.h"

/* Codes for calls that have no join to fill. They are scratch memory of the work, and *job becomes that of
 * columns[], which are left, right and right_upper. Of numbers it stays as it is. Blocks. */
void kr_join_texts_encode(kr_work *work, kr_join_job *job, kr_column columns[3]);

/* The joins, of texts or of numbers; groups->n may be 0. */
void kr_join_texts_run(kr_work *work, const kr_join_job *job, const kr_join_groups *groups, kr_join *join);
void kr_join_texts_columns(kr_work *work, const kr_columns_job *job, kr_join *join);
void kr_join_texts_asof(kr_work *work, const kr_asof_job *job, kr_join *join);
void kr_join_texts_overlap(kr_work *work, const kr_overlap_job *job, const kr_join_groups *groups,
                           kr_join *join);
/* Fills columns[] with codes of the starts and ends of both sides, whose *job then is. Blocks. */
void kr_join_texts_encode_intervals(kr_work *work, kr_overlap_job *job, kr_column columns[4]);

#endif
