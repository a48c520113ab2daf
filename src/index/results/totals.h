/* Totals of a reduction: started, merged, stored. */
#ifndef KEYRAY_INDEX_RESULTS_TOTALS_H
#define KEYRAY_INDEX_RESULTS_TOTALS_H

#include "base/key/key.h"
#include "index/results/params.h"

KR_BODY reduce_total reduce_start(int op)
{
    const int is_min = op == KR_REDUCE_MIN_ROW || op == KR_REDUCE_MIN;
    return (reduce_total){is_min ? ~(uint64_t)0 : 0, 0};
}

/* The upper words of two wide sums; `carry`: the lower word has wrapped, so it is below what was added. */
KR_BODY uint64_t reduce_add_high(uint64_t any, uint64_t more, int carry)
{
    const uint64_t one = 1;
    return ((any & ~one) + (more & ~one) + ((uint64_t)carry << 1)) | ((any | more) & one);
}

/* The upper word, whose sign is the highest bit of `any`. */
KR_BODY uint64_t reduce_high(reduce_total total)
{
    return total.any >> 1 | (total.any & (uint64_t)1 << 63);
}

KR_BODY void reduce_merge(int op, reduce_total *total, reduce_total more)
{
    if (op == KR_REDUCE_MIN_ROW || op == KR_REDUCE_MIN)
        total->bits = more.bits < total->bits ? more.bits : total->bits;
    else if (op == KR_REDUCE_MAX)
        total->bits = more.bits > total->bits ? more.bits : total->bits;
    else if (op == KR_REDUCE_SUM_FLOATS)
        total->bits = kr_bits_of_f64(kr_bits_f64(total->bits) + kr_bits_f64(more.bits));
    else
        total->bits += more.bits;
    if (op == KR_REDUCE_SUM_WIDE)
        total->any = reduce_add_high(total->any, more.any, total->bits < more.bits);
    else
        total->any |= more.any;
}

/* The contribution of a value that is not NULL. */
KR_BODY reduce_total reduce_code(uint32_t type, int op, uint64_t code)
{
    if (op == KR_REDUCE_SUM_INTEGERS || op == KR_REDUCE_SUM_WIDE)
        code = kr_code_integer(type, code);
    if (op == KR_REDUCE_SUM_FLOATS)
        code = kr_bits_of_f64(kr_code_float(type, code));
    const uint64_t high = kr_type_in(type, KR_TYPES_SIGNED) ? (uint64_t)0 - (code >> 63) : 0;
    return (reduce_total){code, op == KR_REDUCE_SUM_WIDE ? high << 1 | 1 : 1};
}

/* The contribution of one row. */
KR_BODY reduce_total reduce_one(const reduce_params *p, int op, uint32_t row)
{
    if (op == KR_REDUCE_MIN_ROW || op == KR_REDUCE_SUM_ROWS)
        return (reduce_total){row, 1};
    if (row >= p->n_values || !kr_code_is_valid(p->validity, p->validity_offset, row))
        return reduce_start(op);
    return reduce_code(p->type, op, kr_code_load(p->type, p->values, row));
}

/* What one row adds to a sum of rows or of integers, p->op. */
KR_BODY uint64_t reduce_addend(const reduce_params *p, uint32_t row)
{
    return p->op == KR_REDUCE_SUM_ROWS ? row : reduce_one(p, KR_REDUCE_SUM_INTEGERS, row).bits;
}

/* The total of the thread `distance` away in the group. */
KR_BODY reduce_total reduce_other(kr_group group, reduce_total total, uint32_t distance)
{
    const uint64_t bits = kr_group_other(group, total.bits, distance);
    return (reduce_total){bits, kr_group_other(group, total.any, distance)};
}

KR_BODY void reduce_store(const reduce_params *p, int op, uint64_t i, reduce_total total)
{
    const uint64_t place = kr_answer_place(p->order, i);
    if (op == KR_REDUCE_MIN_ROW) {
        ((uint32_t *)p->out)[place] = (uint32_t)total.bits; /* ~0 is KR_NO_ROW */
    } else if (op == KR_REDUCE_MIN || op == KR_REDUCE_MAX) {
        kr_code_store(p->type, p->out, place, total.any ? total.bits : kr_code_zero(p->type));
        p->any[place] = (uint8_t)total.any;
    } else if (op == KR_REDUCE_SUM_WIDE) {
        ((uint64_t *)p->out)[2 * place] = total.bits;
        ((uint64_t *)p->out)[2 * place + 1] = reduce_high(total);
    } else {
        ((uint64_t *)p->out)[place] = total.bits;
    }
}

#endif
