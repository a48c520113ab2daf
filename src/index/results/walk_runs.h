/* Sums over the runs of a sorted column, one run for each distinct key, written to the rows that the run's
 * match has: the program `sum_runs` of a walk. Only for walk_programs.h.
 *
 * The thread of a run's first entry owns the run, adds up, and writes to every row of the match; the others
 * have nothing to do (Wu, "Fast Database Join on Ray-tracing Core Equipped GPU", Algorithm 6). A row has one
 * key, so that no two threads write to one place. */
#ifndef KEYRAY_INDEX_RESULTS_WALK_RUNS_H
#define KEYRAY_INDEX_RESULTS_WALK_RUNS_H

KR_BODY int walk_same_key(const runs_params *p, uint64_t i, uint64_t j)
{
    return p->key_bits == 32
               ? kr_load((const uint32_t *)p->keys + i) == kr_load((const uint32_t *)p->keys + j)
               : kr_load((const uint64_t *)p->keys + i) == kr_load((const uint64_t *)p->keys + j);
}

/* The answer of the run that begins at entry i. */
KR_BODY uint64_t walk_run_total(const runs_params *p, uint64_t i)
{
    const int op = (int)p->of.op;
    reduce_total total = reduce_start(op);
    uint64_t j = i;
    do {
        if (!p->counts)
            reduce_merge(op, &total, reduce_one(&p->of, op, kr_load(p->rows + j)));
    } while (++j < p->n && walk_same_key(p, i, j));
    return p->counts ? j - i : total.bits;
}

KR_BODY void walk_sum_run(const runs_params *p, uint64_t i)
{
    const kr_match match = p->of.matches[i];
    if (!match.count || (i && walk_same_key(p, i - 1, i)))
        return;
    const uint64_t total = walk_run_total(p, i);
    const walk_view view = walk_view_of(&p->of.view);
    walk_state state;
    walk_open(&view, match, 0, match.count, &state);
    for (uint32_t k = 0; k < match.count; ++k)
        ((uint64_t *)p->of.out)[walk_row(&view, walk_slot(&view, &state, k))] = total;
}
KR_MAP_PROGRAM(WALK_NAME(sum_runs), runs_params, walk_sum_run);

#endif
