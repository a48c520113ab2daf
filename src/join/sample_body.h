/* The body of sample.c. */
#ifndef KEYRAY_JOIN_SAMPLE_BODY_H
#define KEYRAY_JOIN_SAMPLE_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"

enum { SAMPLE_ROWS = 512 };

typedef struct sample_params {
    const void *data;
    const uint8_t *validity;
    uint64_t validity_offset, count;
    uint64_t *codes;
    uint64_t none; /* the code of NULL */
    uint32_t type, reserved;
} sample_params;
kr_assert_size(sample_params, 56);

/* A row of each of SAMPLE_ROWS equal parts of the column, not at the same place of each. */
KR_BODY void sample_one(const sample_params *p, uint64_t i)
{
    const uint64_t first = i * p->count / SAMPLE_ROWS, end = (i + 1) * p->count / SAMPLE_ROWS;
    const uint64_t row = first + (i * 0x9E3779B1u >> 8) % (end > first ? end - first : 1);
    p->codes[i] = kr_code_is_valid(p->validity, p->validity_offset, row) ? kr_code_load(p->type, p->data, row)
                                                                         : p->none;
}
KR_MAP_PROGRAM(sample_rows, sample_params, sample_one);

#endif
