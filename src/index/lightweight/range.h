/* Ranges whose rows are added up key by key, in the program that finds their first entry (Henneberg and
 * Schuhknecht, "Is Binary Search Really All You Need?", 5.7): a second search for the end is not made, and
 * keys are read along with row ids, so layouts matter.
 *
 * One thread has one range and reads up to KR_RANGE_ALONE entries. What is left of the ranges of a warp is
 * read by the whole warp, one range after the other. Where k - 1 threads search together (group=k-1), they
 * take the ranges of their threads one after the other, and scan together from the start. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_RANGE_H
#define KEYRAY_INDEX_LIGHTWEIGHT_RANGE_H

#include "base/program/launch.h"
#include "index/results/totals.h"
#include "index/sorted/entries.h"

enum { KR_RANGE_ALONE = 32 };

/* Slots from at to end - 1, whose keys ascend. Those above `upper` do not count. */
typedef struct kr_range_run {
    uint32_t at, end;
    kr_key upper;
} kr_range_run;

/* The threads of a warp that search and scan together. */
KR_BODY kr_group kr_range_tile(kr_group warp, const kr_launch *launch)
{
    const uint32_t size = warp.size > 1 && launch->group > 1 ? launch->group : 1;
    const kr_group tile = {warp.rank % size, size};
    return tile;
}

/* Entries that a thread reads alone: all, where it has no others or scan_threads=1. */
KR_BODY uint32_t kr_range_most(kr_group warp, const reduce_params *how)
{
    return warp.size == 1 || how->alone == REDUCE_ALL_ALONE ? 0xFFFFFFFFu : (uint32_t)KR_RANGE_ALONE;
}

/* Adds up at most `most` entries; then run->at is behind them, or at the run's end. */
KR_BODY uint64_t kr_range_alone(const kr_entries *entries, const reduce_params *how, uint32_t most,
                                kr_range_run *run)
{
    const int aos = (int)entries->layout;
    const uint32_t stop = run->end - run->at < most ? run->end : run->at + most;
    uint64_t sum = 0;
    for (; run->at < stop; ++run->at) {
        if (kr_entry_key(entries, aos, run->at) > run->upper) {
            run->end = run->at;
            break;
        }
        sum += reduce_addend(how, kr_entry_row(entries, aos, run->at));
    }
    return sum;
}

/* This thread's part of a run that all threads of the group read together. */
KR_BODY uint64_t kr_range_part(kr_group group, const kr_entries *entries, const reduce_params *how,
                               kr_range_run run)
{
    const int aos = (int)entries->layout;
    uint64_t sum = 0, slot = (uint64_t)run.at + group.rank;
    int is_in = 1;
    for (; !kr_group_ballot(group, !is_in); slot += group.size) {
        is_in = slot < run.end && kr_entry_key(entries, aos, slot) <= run.upper;
        if (is_in)
            sum += reduce_addend(how, kr_entry_row(entries, aos, slot));
    }
    return sum;
}

/* The sum of all threads' parts. */
KR_BODY uint64_t kr_range_total(kr_group group, uint64_t part)
{
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        part += kr_group_other(group, part, distance);
    return part;
}

/* What is left of the warp's runs, one after the other; returns what belongs to this thread. */
KR_BODY uint64_t kr_range_rest(kr_group warp, const kr_entries *entries, const reduce_params *how,
                               kr_range_run run)
{
    uint64_t own = 0;
    for (uint32_t left = kr_group_ballot(warp, run.at < run.end); left; left &= left - 1) {
        const uint32_t owner = kr_ctz32(left);
        const uint64_t ends = kr_group_share(warp, (uint64_t)run.end << 32 | run.at, owner);
        const kr_range_run its = {(uint32_t)ends, (uint32_t)(ends >> 32),
                                  (kr_key)kr_group_share(warp, run.upper, owner)};
        const uint64_t sum = kr_range_total(warp, kr_range_part(warp, entries, how, its));
        own += warp.rank == owner ? sum : 0;
    }
    return own;
}

KR_BODY void kr_range_store(const reduce_params *how, uint64_t i, uint64_t sum)
{
    ((uint64_t *)how->out)[kr_answer_place(how->order, i)] = sum;
}

/* The sum of probe i < n, whose entries are one run. All threads of the warp, or of the tile, are here. */
KR_BODY void kr_range_sum(kr_group warp, kr_group tile, const kr_entries *entries, const reduce_params *how,
                          kr_range_run run, uint64_t i, uint64_t n)
{
    uint64_t sum;
    if (tile.size > 1) {
        sum = kr_range_total(tile, kr_range_part(tile, entries, how, run));
    } else {
        sum = kr_range_alone(entries, how, kr_range_most(warp, how), &run);
        sum += kr_range_rest(warp, entries, how, run);
    }
    if (tile.rank == 0 && i < n)
        kr_range_store(how, i, sum);
}

/* Makes the body name##_one of a program of the form GROUP of `find`, which gives the run of a probe:
 *
 *   kr_range_run find(const params_t *, kr_group tile, uint64_t i)
 *   params_t    has members `search`, the parameters of lookups, and `how` */
#define KR_RANGE_BODY(name, params_t, find)                                           \
    KR_BODY void name##_one(kr_group warp, const params_t *p, uint64_t i, uint64_t n) \
    {                                                                                 \
        const kr_group tile = kr_range_tile(warp, &p->search.launch);                 \
        for (uint32_t turn = 0; turn < tile.size; ++turn) {                           \
            const uint64_t probe = i - tile.rank + turn;                              \
            kr_range_run run = {0, 0, 0};                                             \
            if (probe < n)                                                            \
                run = find(p, tile, probe);                                           \
            kr_range_sum(warp, tile, &p->search.entries, &p->how, run, probe, n);     \
        }                                                                             \
    }
#define KR_RANGE_PROGRAM(name, params_t, find) \
    KR_RANGE_BODY(name, params_t, find)        \
    KR_GROUP_PROGRAM(name, params_t, name##_one)

#endif
