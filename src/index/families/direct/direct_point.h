/* From a probe to the bit of its key, and from positions to its answer. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_POINT_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_POINT_H

#include "index/families/direct/direct_bits.h"
#include "index/families/direct/direct_find_params.h"

/* The block and the bit of a probe; 0: no key can have its code. */
KR_BODY int direct_point_aim(const direct_find_params *p, uint64_t i, direct_spot *spot)
{
    const direct_view *v = &p->view;
    kr_key code, upper;
    const int any = kr_batch_load(&p->batch, i, &code, &upper);
    const kr_key above = (kr_key)(code - (kr_key)v->lowest), value = direct_quotient(v, above);
    const int is_value = any && above <= (kr_key)v->span && (kr_key)(value * (kr_key)v->step) == above;
    *spot = direct_spot_of(is_value ? value : 0);
    return is_value;
}

KR_BODY void direct_put(const direct_find_params *p, uint64_t i, uint32_t at, uint32_t end)
{
    const int found = at < end;
    if (kr_put_wants_first(&p->put))
        kr_put_first(&p->put, i, found, found && p->put.what == KR_PUT_ROW ? direct_row(&p->view, at) : 0);
    else
        kr_put_match(&p->put, i, at, end - at);
}

#endif
