#include "bench/workload/workload.h"

#include <stdlib.h>
#include <string.h>

/* Absent values between the first key and key i of the sorted distinct keys. */
static uint64_t absent_below(const kr_absent *absent, uint64_t i)
{
    return kr_ints_get(absent->ints, absent->sorted, i) - absent->low - i;
}

/* Sorts a copy of the keys and keeps every distinct one. */
static kr_status sort_distinct(kr_absent *absent, uint64_t n_keys, const void *keys, uint32_t threads,
                               kr_error *err)
{
    kr_ints ints = absent->ints;
    absent->sorted = kr_workload_alloc(n_keys, ints.nbytes, "a sorted copy of the keys", err);
    if (!absent->sorted)
        return KR_ERR_HOST_MEMORY;
    kr_sorter sorter;
    kr_status status = kr_sorter_open(KR_PROBES_ASCENDING, ints, n_keys, 0, threads, &sorter, err);
    if (status != KR_OK)
        return status;
    memcpy(absent->sorted, keys, n_keys * ints.nbytes);
    kr_sorter_run(&sorter, absent->sorted, NULL);
    kr_sorter_close(&sorter);

    absent->n = 1;
    for (uint64_t i = 1; i < n_keys; i++) {
        uint64_t value = kr_ints_get(ints, absent->sorted, i);
        if (value != kr_ints_get(ints, absent->sorted, absent->n - 1))
            kr_ints_put(ints, absent->sorted, absent->n++, value);
    }
    return KR_OK;
}

/* Cuts the absent values into equal buckets, about one for every four keys, so that a value is found with two
 * or three cache misses. */
static kr_status index_gaps(kr_absent *absent, kr_error *err)
{
    while ((absent->count - 1) >> absent->shift > absent->n / 4)
        absent->shift++;
    uint64_t buckets = ((absent->count - 1) >> absent->shift) + 1;
    absent->start = kr_workload_alloc(buckets + 1, sizeof *absent->start, "the gaps between the keys", err);
    if (!absent->start)
        return KR_ERR_HOST_MEMORY;
    uint64_t i = 0;
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        while (i + 1 < absent->n && absent_below(absent, i + 1) <= bucket << absent->shift)
            i++;
        absent->start[bucket] = (uint32_t)i;
    }
    absent->start[buckets] = (uint32_t)(absent->n - 1);
    return KR_OK;
}

static kr_status open_inside(kr_absent *absent, uint64_t n_keys, const void *keys, uint32_t threads,
                             kr_error *err)
{
    kr_status status = sort_distinct(absent, n_keys, keys, threads, err);
    if (status != KR_OK)
        return status;
    absent->low = kr_ints_get(absent->ints, absent->sorted, 0);
    absent->high = kr_ints_get(absent->ints, absent->sorted, absent->n - 1);
    absent->count = absent_below(absent, absent->n - 1);
    if (absent->count == 0)
        return kr_workload_fail(err, KR_ERR_ARGUMENT,
                                "miss_percent: the keys leave no gap inside their value range; "
                                "ask for outlier_percent or a set with uniformity or stride");
    return index_gaps(absent, err);
}

static kr_status open_outside(kr_absent *absent, uint64_t n_keys, const void *keys, kr_error *err)
{
    absent->low = UINT64_MAX;
    for (uint64_t i = 0; i < n_keys; i++) {
        uint64_t value = kr_ints_get(absent->ints, keys, i);
        absent->low = value < absent->low ? value : absent->low;
        absent->high = value > absent->high ? value : absent->high;
    }
    absent->count = absent->low + (absent->ints.last - absent->high);
    if (absent->count == 0)
        return kr_workload_fail(
            err, KR_ERR_ARGUMENT,
            "outlier_percent: the keys hold the least and the greatest value of their type; "
            "ask for misses inside");
    return KR_OK;
}

kr_status kr_absent_open(uint32_t outside, kr_ints ints, uint64_t n_keys, const void *keys, uint32_t threads,
                         kr_absent *absent, kr_error *err)
{
    *absent = (kr_absent){.ints = ints};
    kr_status status =
        outside ? open_outside(absent, n_keys, keys, err) : open_inside(absent, n_keys, keys, threads, err);
    if (status != KR_OK)
        kr_absent_close(absent);
    return status;
}

uint64_t kr_absent_value(const kr_absent *absent, uint64_t i)
{
    if (absent->n == 0)
        return i < absent->low ? i : absent->high + 1 + (i - absent->low);
    /* The last key with at most i absent values below it; value number i lies in the gap behind it. */
    uint64_t low = absent->start[i >> absent->shift], high = absent->start[(i >> absent->shift) + 1];
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (absent_below(absent, middle) <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return absent->low + low + 1 + i;
}

void kr_absent_close(kr_absent *absent)
{
    free(absent->start);
    free(absent->sorted);
    absent->start = NULL;
    absent->sorted = NULL;
}
