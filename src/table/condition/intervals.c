#include "table/condition/intervals.h"
#include "table/condition/grow.h"

int kr_intervals_add(kr_code_set *set, uint64_t low, uint64_t high, kr_error *err)
{
    if (low > high)
        return 1;
    if (!kr_condition_grow((void **)&set->at, &set->room, set->n, 1, sizeof *set->at,
                           "intervals of a condition", err))
        return 0;
    set->at[set->n++] = (kr_interval){low, high};
    return 1;
}

static int by_low(const void *a, const void *b)
{
    const uint64_t x = ((const kr_interval *)a)->low, y = ((const kr_interval *)b)->low;
    return (x > y) - (x < y);
}

void kr_intervals_tidy(kr_code_set *set)
{
    uint64_t kept = 0;
    if (set->n > 1)
        qsort(set->at, set->n, sizeof *set->at, by_low);
    for (uint64_t i = 0; i < set->n; ++i) {
        kr_interval *last = set->at + kept - 1;
        if (kept && (last->high == UINT64_MAX || set->at[i].low <= last->high + 1))
            last->high = set->at[i].high > last->high ? set->at[i].high : last->high;
        else
            set->at[kept++] = set->at[i];
    }
    set->n = kept;
}

int kr_intervals_complement(kr_code_set *set, uint64_t most, kr_error *err)
{
    kr_code_set gaps = {0};
    uint64_t low = 0;
    int ok = 1;
    for (uint64_t i = 0; i < set->n && ok; ++i) {
        ok = !set->at[i].low || kr_intervals_add(&gaps, low, set->at[i].low - 1, err);
        low = set->at[i].high + 1;
    }
    /* low is 0 again if the last interval reached the largest of all codes */
    if (ok && (!set->n || (low && low <= most)))
        ok = kr_intervals_add(&gaps, low, most, err);
    free(set->at);
    *set = gaps;
    return ok;
}
