/* The suite in several processes. */
#ifndef KEYRAY_TESTS_JOBS_H
#define KEYRAY_TESTS_JOBS_H

#include <stdint.h>

enum { KR_MAX_JOBS = 256 };

typedef struct kr_totals {
    uint64_t passed, failed, skipped;
} kr_totals;

/* Returns where to hand over the totals of share *share, in each of `jobs` processes; in the caller's own -1,
 * once all of them have ended and *sum has their totals. Call it before any device is opened. */
int kr_divide(uint32_t jobs, uint32_t *share, kr_totals *sum);
void kr_hand_over(int to, const kr_totals *totals);

#endif
