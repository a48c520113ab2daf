/* A look at a column of keys, before a kind is chosen for it: one pass that reads it once. */
#ifndef KEYRAY_INDEX_KINDS_LOOK_H
#define KEYRAY_INDEX_KINDS_LOOK_H

#include "base/devices/work.h"
#include "index/kinds/kind.h"

enum { KR_LOOK_TEXT_NBYTES = 112 };

typedef struct kr_look {
    uint64_t n;               /* keys without NULLs; 0: nothing else is known */
    uint64_t lowest, highest; /* codes */
    uint32_t type;            /* kr_type */
    uint32_t ascends;         /* 1: no key is below the one before it; 0: some is, or there may be NULLs */
    uint32_t is_distinct;     /* 1: no key is there twice */
    uint32_t repeats;         /* 1: some is; neither: that was not looked at */
} kr_look;

/* At a column that the device reaches. Blocks. */
kr_look kr_look_at(kr_work *work, const kr_column *keys);

/* 1: integers, dates, times or codes, of which the next key is at most `factor` values away, on average. */
int kr_look_is_dense(const kr_look *look, uint32_t factor);

/* "; 1000 keys from 7 to 4006, 1 in 4 values, ascending, distinct" */
void kr_look_describe(const kr_look *look, char text[KR_LOOK_TEXT_NBYTES]);

#endif
