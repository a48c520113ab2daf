/* The bodies of asof_sweep.c: both sides are read once in the order of their times, and each group's last
 * right row is remembered. Where rows above are wanted, both are read from their ends.
 *
 * Steps count rows in the order in which they are read. A piece of left rows takes the right rows from those
 * that its first row has passed on to those that the next piece's first row has passed. */
#ifndef KEYRAY_JOIN_ASOF_SWEEP_BODY_H
#define KEYRAY_JOIN_ASOF_SWEEP_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"

typedef struct asof_sweep_params {
    const void *left, *right; /* times */
    const uint32_t *left_groups, *right_groups;
    uint32_t *tables; /* of each piece: the last right row of each group, or KR_NO_ROW */
    uint32_t *out;    /* of each left row: the right row */
    uint64_t n_left, n_right;
    uint64_t groups, each; /* groups are below `groups`; left rows of a piece */
    uint32_t type;         /* of times */
    uint32_t above;        /* 1: rows above are wanted */
    uint32_t strict, reserved;
} asof_sweep_params;
kr_assert_size(asof_sweep_params, 96);

KR_BODY uint64_t asof_sweep_row(const asof_sweep_params *p, uint64_t n, uint64_t step)
{
    return p->above ? n - 1 - step : step;
}

KR_BODY uint64_t asof_sweep_left_time(const asof_sweep_params *p, uint64_t step)
{
    return kr_code_load(p->type, p->left, asof_sweep_row(p, p->n_left, step));
}

/* Whether a left row of that time may be answered by this right row. */
KR_BODY int asof_sweep_passes(const asof_sweep_params *p, uint64_t step, uint64_t time)
{
    const uint64_t code = kr_code_load(p->type, p->right, asof_sweep_row(p, p->n_right, step));
    return (p->above ? code > time : code < time) || (!p->strict && code == time);
}

/* The number of right rows that a left row of that time has passed. */
KR_BODY uint64_t asof_sweep_passed(const asof_sweep_params *p, uint64_t time)
{
    uint64_t low = 0, high = p->n_right;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (asof_sweep_passes(p, middle, time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

KR_BODY void asof_sweep_take(const asof_sweep_params *p, uint32_t *table, uint64_t step)
{
    const uint64_t row = asof_sweep_row(p, p->n_right, step);
    table[p->right_groups[row]] = (uint32_t)row;
}

KR_BODY void asof_sweep_piece(const asof_sweep_params *p, uint64_t piece)
{
    const uint64_t begin = piece * p->each, end = begin + p->each < p->n_left ? begin + p->each : p->n_left;
    uint32_t *table = p->tables + piece * p->groups;
    uint64_t next = piece ? asof_sweep_passed(p, asof_sweep_left_time(p, begin)) : 0;
    const uint64_t stop = end < p->n_left ? asof_sweep_passed(p, asof_sweep_left_time(p, end)) : 0;
    for (uint64_t g = 0; g < p->groups; ++g)
        table[g] = KR_NO_ROW;
    for (uint64_t step = begin; step < end; ++step) {
        const uint64_t row = asof_sweep_row(p, p->n_left, step), time = kr_code_load(p->type, p->left, row);
        for (; next < p->n_right && asof_sweep_passes(p, next, time); ++next)
            asof_sweep_take(p, table, next);
        p->out[row] = table[p->left_groups[row]];
    }
    for (; next < stop; ++next)
        asof_sweep_take(p, table, next);
}

/* Left rows whose group has no row in their own piece: the last one of the pieces before. */
KR_BODY void asof_sweep_rest_of(const asof_sweep_params *p, uint64_t piece)
{
    const uint64_t begin = piece * p->each, end = begin + p->each < p->n_left ? begin + p->each : p->n_left;
    for (uint64_t step = begin; piece && step < end; ++step) {
        const uint64_t row = asof_sweep_row(p, p->n_left, step);
        uint32_t found = p->out[row];
        for (uint64_t before = piece; found == KR_NO_ROW && before-- > 0;)
            found = p->tables[before * p->groups + p->left_groups[row]];
        p->out[row] = found;
    }
}

KR_BODY void asof_sweep_pieces(const asof_sweep_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t piece = first; piece < end; ++piece)
        asof_sweep_piece(p, piece);
}

KR_BODY void asof_sweep_rests(const asof_sweep_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t piece = first; piece < end; ++piece)
        asof_sweep_rest_of(p, piece);
}

#endif
