/* Sets of codes, while a plan is made: lists of intervals in any order, which may overlap, until they are
 * made ascending and disjoint. */
#ifndef KEYRAY_TABLE_CONDITION_INTERVALS_H
#define KEYRAY_TABLE_CONDITION_INTERVALS_H

#include "base/util/error.h"

/* Codes low .. high. */
typedef struct kr_interval {
    uint64_t low, high;
} kr_interval;

typedef struct kr_code_set {
    kr_interval *at;
    uint64_t n, room;
} kr_code_set;

/* Appends low .. high if low <= high. 0: there is no memory. */
int kr_intervals_add(kr_code_set *set, uint64_t low, uint64_t high, kr_error *err);
/* Sorts, and joins what overlaps or touches. */
void kr_intervals_tidy(kr_code_set *set);
/* Of a tidy set: all codes of 0 .. most that are not in it. 0: there is no memory. */
int kr_intervals_complement(kr_code_set *set, uint64_t most, kr_error *err);

#endif
