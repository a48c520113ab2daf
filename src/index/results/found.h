/* Answers of a ROW lookup, as lists of those probes that found a row, or of those that did not. */
#ifndef KEYRAY_INDEX_RESULTS_FOUND_H
#define KEYRAY_INDEX_RESULTS_FOUND_H

#include "base/devices/work.h"

typedef struct kr_found {
    uint32_t *probes; /* n, ascending, or in the order of `names` */
    uint32_t *rows;   /* n: their answers; NULL where they are not asked for */
    uint64_t n;
} kr_found;

typedef struct kr_found_job {
    uint32_t *answers; /* n, scratch memory; they become `rows` if all probes are listed: nothing is copied */
    const uint32_t *bits; /* in the place of answers, without names and rows: n bits, 1: a row was found */
    uint32_t *names; /* NULL: answer i is of probe i; or n, which probe it is of; become `probes` likewise */
    uint64_t n;      /* below KR_NO_ROW */
    uint32_t wanted; /* 1: probes whose answer is a row; 0: those whose answer is KR_NO_ROW */
    uint32_t with_rows;
    const char *help; /* what saves memory */
} kr_found_job;

/* What it makes is scratch memory of the work. Blocks. */
kr_found kr_found_list(kr_work *work, const kr_found_job *job);
/* numbers[i] := i for i < n; enqueues. */
void kr_found_number(kr_work *work, uint32_t *numbers, uint64_t n);

#endif
