/* A look at a column of keys, before a kind is chosen for it: one pass that reads it once. */
#ifndef KEYRAY_INDEX_KINDS_LOOK_H
#define KEYRAY_INDEX_KINDS_LOOK_H

#include "base/devices/work.h"
#include "index/kinds/kind.h"

enum { KR_LOOK_TEXT_NBYTES = 144 };

/* No rule of choose.c takes keys that lie more steps apart, on average, for dense. So no look searches for
 * smaller steps. */
enum { KR_LOOK_STEPS_MOST = 16 };

typedef struct kr_look {
    uint64_t n;               /* keys without NULLs; 0: nothing else is known */
    uint64_t lowest, highest; /* codes */
    uint64_t step; /* as of kr_look_step; 0: too small to matter, or not looked for: of floats and few keys */
    uint32_t type; /* kr_type */
    uint32_t ascends;     /* 1: no key is below the one before it; 0: some is, or there may be NULLs */
    uint32_t is_distinct; /* 1: no key is there twice */
    uint32_t repeats;     /* 1: some is; neither: that was not looked at */
} kr_look;

/* At a column that the device reaches. Blocks. */
kr_look kr_look_at(kr_work *work, const kr_column *keys);

/* The largest number of which all codes less the lowest are a multiple: a day, of days in microseconds. 0: it
 * is at most `above`. Keys are no floats, `span` is the highest code less the lowest. A few keys tell most
 * often; else passes over all of them do. Blocks. */
uint64_t kr_look_step(kr_work *work, const kr_column *keys, uint64_t lowest, uint64_t span, uint64_t above);

/* 1: integers, dates, times or codes, of which the next key is at most `factor` values away, on average; of
 * dense keys, at most `factor` steps. */
int kr_look_is_close(const kr_look *look, uint32_t factor);
int kr_look_is_dense(const kr_look *look, uint32_t factor);

/* "; 1000 keys from 7 to 4006, 1 in 4 values, ascending, distinct"; of a step, "1 in 2 steps of 86400" */
void kr_look_describe(const kr_look *look, char text[KR_LOOK_TEXT_NBYTES]);

#endif
