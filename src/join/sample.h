/* About how many pairs a join of values with ranges has, by a sample of both sides: for the rule that says
 * which side to index. */
#ifndef KEYRAY_JOIN_SAMPLE_H
#define KEYRAY_JOIN_SAMPLE_H

#include "join/pairs.h"

/* Leaves *pairs as it is where sides have so few rows that their join takes no longer than the sample.
 * Blocks. */
void kr_join_sample(kr_work *work, const kr_join_job *job, double *pairs);

#endif
