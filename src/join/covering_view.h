/* What programs read of the ranges of a covering.h. */
#ifndef KEYRAY_JOIN_COVERING_VIEW_H
#define KEYRAY_JOIN_COVERING_VIEW_H

#include "base/program/program.h"

enum { COVERING_FAN_BITS = 5, COVERING_FAN = 1 << COVERING_FAN_BITS, COVERING_LEVELS = 8 };

/* Ranges that are read for a key by one thread, and those of a slice, if slices are not too many. */
enum { COVERING_STEPS = 1024 };

typedef struct kr_covering_view {
    void *largest, *reach;           /* codes, all levels one after the other */
    uint64_t first[COVERING_LEVELS]; /* of each level, and the end */
    uint32_t levels, is_wide;        /* is_wide: codes of 64 bits */
} kr_covering_view;
kr_assert_size(kr_covering_view, 88);

#endif
