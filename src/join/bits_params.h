/* The parameters of the programs of bits.c. */
#ifndef KEYRAY_JOIN_BITS_PARAMS_H
#define KEYRAY_JOIN_BITS_PARAMS_H

#include "base/program/lang.h"

/* Over the rows of a column. */
typedef struct bits_params {
    const void *values;
    const uint8_t *validity; /* or NULL */
    uint32_t *bits;  /* of the codes lowest to lowest + span: 1: a right row has it; in `stripes` copies */
    uint32_t *found; /* of left rows: 1: a right row has its value */
    uint64_t offset; /* of the validity bitmap, in bits */
    uint64_t n;
    uint64_t lowest, span;
    uint64_t words;      /* of a copy */
    uint64_t begin, end; /* rows that stripes share out */
    uint32_t type, stripes;
} bits_params;
kr_assert_size(bits_params, 96);

#endif
