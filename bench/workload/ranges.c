#include "bench/workload/workload.h"

typedef struct range_set {
    kr_ints ints;
    const void *keys;
    uint64_t n_keys;
    void *lower, *upper;
    uint64_t draw, reach; /* upper = lower + reach */
} range_set;

static void write_lower(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const range_set set = *(const range_set *)ctx;
    (void)part;
    for (uint64_t i = first; i < end; i++) {
        uint64_t row = kr_scale(kr_random(set.draw, i), set.n_keys);
        kr_ints_put(set.ints, set.lower, i, kr_ints_get(set.ints, set.keys, row));
    }
}

static void write_upper(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const range_set set = *(const range_set *)ctx;
    (void)part;
    for (uint64_t i = first; i < end; i++) {
        uint64_t lower = kr_ints_get(set.ints, set.lower, i), room = set.ints.last - lower;
        kr_ints_put(set.ints, set.upper, i, lower + (set.reach < room ? set.reach : room));
    }
}

/* hits * multiplier - 1, saturating. */
static uint64_t reach_of(const kr_ranges_spec *spec)
{
    uint64_t hits = spec->hits ? spec->hits : 1, multiplier = spec->multiplier ? spec->multiplier : 1;
    return hits > UINT64_MAX / multiplier ? UINT64_MAX : hits * multiplier - 1;
}

kr_status kr_generate_ranges(const kr_ranges_spec *spec, kr_type type, uint64_t n_keys, const void *keys,
                             uint32_t threads, void *lower, void *upper, kr_error *err)
{
    range_set set = {.keys = keys,
                     .n_keys = n_keys,
                     .lower = lower,
                     .upper = upper,
                     .draw = kr_random_stream(spec->seed, KR_USE_RANGE_DRAW),
                     .reach = reach_of(spec)};
    if (spec->count && n_keys == 0)
        return kr_workload_fail(err, KR_ERR_ARGUMENT,
                                "n_keys is 0: there is nothing to draw %llu ranges from",
                                (unsigned long long)spec->count);
    if (spec->count && (!lower || !upper))
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "lower or upper is NULL but count is %llu",
                                (unsigned long long)spec->count);
    kr_sorter sorter;
    kr_status status = kr_ints_open(type, n_keys, keys, &set.ints, err);
    if (status == KR_OK)
        status = kr_sorter_open(spec->order, set.ints, spec->count, 0, threads, &sorter, err);
    if (status != KR_OK)
        return status;
    uint32_t parts = kr_workload_parts(threads, spec->count);
    kr_workload_run(parts, spec->count, write_lower, &set);
    kr_sorter_run(&sorter, lower, NULL);
    kr_workload_run(parts, spec->count, write_upper, &set);
    kr_sorter_close(&sorter);
    return KR_OK;
}
