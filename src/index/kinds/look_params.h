/* The parameters of a look at keys, and what it counts. */
#ifndef KEYRAY_INDEX_KINDS_LOOK_PARAMS_H
#define KEYRAY_INDEX_KINDS_LOOK_PARAMS_H

#include "base/program/lang.h"

/* What is counted of a column: the largest of all codes and of all complements, rows that are not NULL, where
 * there may be some; 1: a code is below the one before it, or equal to it. */
enum { LOOK_HIGHEST, LOOK_LOWEST_NOT, LOOK_COUNT, LOOK_FALLS, LOOK_REPEATS, LOOK_FOUND };

typedef struct look_params {
    const void *values;
    const uint8_t *validity; /* or NULL */
    uint64_t *found;         /* LOOK_FOUND counters */
    uint64_t offset;         /* of the validity bitmap, in bits */
    uint64_t n;
    uint32_t type, reserved;
} look_params;
kr_assert_size(look_params, 48);

/* Of the rests of codes less the lowest, divided by a step. */
typedef struct look_rests_params {
    look_params look;             /* found: one counter, of the largest rest */
    uint64_t lowest, step, magic; /* of kr_code_divide64 */
    uint32_t shift, reserved;
} look_rests_params;
kr_assert_size(look_rests_params, 80);

#endif
