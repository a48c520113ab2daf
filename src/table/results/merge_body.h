/* The bodies of merge.c. */
#ifndef KEYRAY_TABLE_RESULTS_MERGE_BODY_H
#define KEYRAY_TABLE_RESULTS_MERGE_BODY_H

#include "base/program/program.h"

typedef struct merge_params {
    uint32_t *to;
    const uint32_t *from;
    uint64_t n; /* rows */
} merge_params;
kr_assert_size(merge_params, 24);

KR_BODY void selected_or_word(const merge_params *p, uint64_t i)
{
    p->to[i] |= kr_load(p->from + i);
}
KR_MAP_PROGRAM(scan_merge_or, merge_params, selected_or_word);

KR_BODY void selected_and_word(const merge_params *p, uint64_t i)
{
    p->to[i] &= kr_load(p->from + i);
}
KR_MAP_PROGRAM(scan_merge_and, merge_params, selected_and_word);

KR_BODY void selected_clear_word(const merge_params *p, uint64_t i)
{
    p->to[i] &= ~kr_load(p->from + i);
}
KR_MAP_PROGRAM(scan_merge_clear, merge_params, selected_clear_word);

KR_BODY void selected_begin_word(const merge_params *p, uint64_t i)
{
    const uint64_t left = p->n - i * 32;
    const uint32_t rows = left < 32 ? ((uint32_t)1 << left) - 1 : 0xFFFFFFFFu;
    p->to[i] = p->from ? kr_load(p->from + i) & rows : rows;
}
KR_MAP_PROGRAM(scan_merge_begin, merge_params, selected_begin_word);

#endif
