/* The bodies of joins of intervals. */
#ifndef KEYRAY_JOIN_OVERLAP_BODY_H
#define KEYRAY_JOIN_OVERLAP_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"

typedef struct overlap_codes_params {
    const void *start, *end;
    const uint8_t *start_validity, *end_validity;
    uint64_t start_offset, end_offset; /* of the bitmaps */
    void *starts, *ends;               /* codes of the closed interval; `ends` may be NULL */
    void *lower, *upper;               /* the starts to look for: an empty range if there are none */
    uint8_t *flags;                    /* whether there is an interval */
    uint32_t type, out_type;           /* KR_U32 or KR_U64 */
    uint32_t open;                     /* 1: the end is no part of the interval */
    uint32_t skip;                     /* 1: nor is the start part of the range to look for */
} overlap_codes_params;
kr_assert_size(overlap_codes_params, 104);

KR_BODY int overlap_is_nan(uint32_t type, uint64_t code)
{
    return (type == KR_F32 && code == 0xFFFFFFFFu) || (type == KR_F64 && code == ~(uint64_t)0);
}

KR_BODY void overlap_code(const overlap_codes_params *p, uint64_t i)
{
    const uint64_t start = kr_code_load(p->type, p->start, i), end = kr_code_load(p->type, p->end, i);
    const uint64_t last = end - p->open; /* where end is 0, there is no interval */
    const int any = kr_code_is_valid(p->start_validity, p->start_offset, i) &&
                    kr_code_is_valid(p->end_validity, p->end_offset, i) && !overlap_is_nan(p->type, start) &&
                    !overlap_is_nan(p->type, end) && (p->open ? start < end : start <= end);
    const int looks = any && start + p->skip <= last && start + p->skip >= start;
    kr_code_store(p->out_type, p->starts, i, start);
    if (p->ends)
        kr_code_store(p->out_type, p->ends, i, last);
    kr_code_store(p->out_type, p->lower, i, looks ? start + p->skip : 1);
    kr_code_store(p->out_type, p->upper, i, looks ? last : 0);
    p->flags[i] = (uint8_t)any;
}
KR_MAP_PROGRAM(overlap_codes, overlap_codes_params, overlap_code);

/* answers[i] := 0 for a left row with a partner, else KR_NO_ROW: more right intervals begin up to its end
 * than have ended before its start. */
typedef struct overlap_partner_params {
    const uint64_t *begun, *ended;
    uint32_t *answers;
    const uint8_t *validity; /* of left rows */
} overlap_partner_params;
kr_assert_size(overlap_partner_params, 32);

KR_BODY void overlap_partner_of(const overlap_partner_params *p, uint64_t i)
{
    const int has = kr_code_is_valid(p->validity, 0, i) && kr_load(p->begun + i) > kr_load(p->ended + i);
    p->answers[i] = has ? 0 : KR_NO_ROW;
}
KR_MAP_PROGRAM(overlap_partner, overlap_partner_params, overlap_partner_of);

/* The code before each start, for ranges that end there; at the lowest code the range is empty. */
typedef struct overlap_before_params {
    const void *starts, *ends;
    void *lower, *upper;
    uint32_t type;   /* of codes */
    uint32_t before; /* 1: up to the code before the start; 0: up to the end */
} overlap_before_params;
kr_assert_size(overlap_before_params, 40);

KR_BODY void overlap_up_to(const overlap_before_params *p, uint64_t i)
{
    const uint64_t start = kr_code_load(p->type, p->starts, i), end = kr_code_load(p->type, p->ends, i);
    const int none = p->before && start == 0;
    kr_code_store(p->type, p->lower, i, none ? 1 : 0);
    kr_code_store(p->type, p->upper, i, none ? 0 : p->before ? start - 1 : end);
}
KR_MAP_PROGRAM(overlap_before, overlap_before_params, overlap_up_to);

#endif
