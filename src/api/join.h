/* What the calls that make joins share. */
#ifndef KEYRAY_API_JOIN_H
#define KEYRAY_API_JOIN_H

#include "index/texts/column.h"
#include "join/texts.h"

/* The options, NULL: the defaults, of joins that take few of them: these say what they refuse. `groups`: what
 * becomes of group columns; NULL: they are refused. */
kr_join_options kr_call_join_read_few_options(kr_work *work, const kr_join_options *options,
                                              kr_join_groups *groups);
/* Group columns for sides of so many rows. */
void kr_call_join_check_groups(kr_work *work, const kr_join_groups *groups, uint64_t left_rows,
                               uint64_t right_rows);

/* A column of numbers or of texts. */
void kr_call_join_check_column(kr_work *work, const kr_column *column, const char *what);
/* 1: both are texts, or of one type. */
static inline int kr_call_join_are_alike(const kr_column *left, const kr_column *right)
{
    return left->type == right->type || (kr_strings_are(left->type) && kr_strings_are(right->type));
}
/* What to do where they are not. */
const char *kr_call_join_advice(const kr_column *left, const kr_column *right);
/* Two columns of one type, or texts; `name` says what the right one is. */
void kr_call_join_check_sides(kr_work *work, const kr_column *left, const kr_column *right, const char *name);

/* A join to fill; NULL after a failure. */
kr_join *kr_call_join_begin(kr_work *work);
/* Ends the work, and hands the join over, or destroys it if a step has failed. */
kr_status kr_call_join_end(kr_work *work, kr_join *made, kr_join **join);

#endif
