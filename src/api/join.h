/* What the calls that make joins share. */
#ifndef KEYRAY_API_JOIN_H
#define KEYRAY_API_JOIN_H

#include "join/groups.h"

/* The options, NULL: the defaults, of joins that take few of them: these say what they refuse. `groups`: what
 * becomes of group columns; NULL: they are refused. */
kr_join_options kr_call_join_read_few_options(kr_work *work, const kr_join_options *options,
                                              kr_join_groups *groups);
/* Group columns for sides of so many rows. */
void kr_call_join_check_groups(kr_work *work, const kr_join_groups *groups, uint64_t left_rows,
                               uint64_t right_rows);

/* Two columns of one type; `name` says what the right one is. */
void kr_call_join_check_sides(kr_work *work, const kr_column *left, const kr_column *right, const char *name);

/* A join to fill; NULL after a failure. */
kr_join *kr_call_join_begin(kr_work *work);
/* Ends the work, and hands the join over, or destroys it if a step has failed. */
kr_status kr_call_join_end(kr_work *work, kr_join *made, kr_join **join);

#endif
