#include "bench/workload/workload.h"

#include <string.h>

typedef struct probe_set {
    kr_ints ints;
    const void *keys;
    uint64_t n_keys;
    void *probes;
    uint32_t *rows;
    uint64_t misses, outliers, skewed;
    kr_permutation which; /* probe i is a miss when it is sent below `misses`, an outlier below `outliers` */
    kr_permutation ranks; /* Zipf rank to position */
    uint64_t draw, within;
    kr_absent inside, outside;
    kr_zipf zipf;
} probe_set;

static uint64_t drawn_position(const probe_set *set, uint64_t i)
{
    uint64_t random = kr_random(set->draw, i);
    if (!set->skewed)
        return kr_scale(random, set->n_keys);
    return kr_permute(&set->ranks, kr_zipf_rank(&set->zipf, random, kr_random(set->within, i)));
}

static uint32_t drawn_row(const probe_set *set, uint64_t i)
{
    if (set->misses && kr_permute(&set->which, i) < set->misses)
        return KR_NO_ROW;
    return (uint32_t)drawn_position(set, i);
}

static uint64_t drawn_value(const probe_set *set, uint64_t i, uint32_t row)
{
    if (row != KR_NO_ROW)
        return kr_ints_get(set->ints, set->keys, row);
    const int is_outlier = set->outliers && kr_permute(&set->which, i) < set->outliers;
    const kr_absent *absent = is_outlier ? &set->outside : &set->inside;
    return kr_absent_value(absent, kr_scale(kr_random(set->draw, i), absent->count));
}

/* Draws a block of rows before it reads the keys there, so that their cache misses overlap. */
static void write_probes(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    enum { BLOCK = 128 };
    const probe_set set = *(const probe_set *)ctx;
    uint32_t rows[BLOCK];
    (void)part;
    for (uint64_t block = first; block < end; block += BLOCK) {
        uint64_t n = end - block < BLOCK ? end - block : BLOCK;
        for (uint64_t i = 0; i < n; i++)
            rows[i] = drawn_row(&set, block + i);
        for (uint64_t i = 0; i < n; i++)
            kr_ints_put(set.ints, set.probes, block + i, drawn_value(&set, block + i, rows[i]));
        if (set.rows)
            memcpy(set.rows + block, rows, n * sizeof *rows);
    }
}

static kr_status check(const kr_probes_spec *spec, uint64_t n_keys, const void *probes, kr_error *err)
{
    if (spec->miss_percent > 100)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "miss_percent is %u: use 0 to 100", spec->miss_percent);
    if (spec->outlier_percent > 100)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "outlier_percent is %u: use 0 to 100",
                                spec->outlier_percent);
    if (spec->zipf_hundredths > 500)
        return kr_workload_fail(err, KR_ERR_ARGUMENT,
                                "zipf_hundredths is %u: use 0 to 500, a coefficient of at most 5",
                                spec->zipf_hundredths);
    if (spec->count && n_keys == 0)
        return kr_workload_fail(err, KR_ERR_ARGUMENT,
                                "n_keys is 0: there is nothing to draw %llu probes from",
                                (unsigned long long)spec->count);
    if (spec->count && !probes)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "probes is NULL but count is %llu",
                                (unsigned long long)spec->count);
    return KR_OK;
}

/* Percent of a number, rounded down. */
static uint64_t share(uint64_t n, uint32_t percent)
{
    return n / 100 * percent + n % 100 * percent / 100;
}

/* Prepares what the misses and the skew need. */
static kr_status prepare(const kr_probes_spec *spec, uint32_t threads, probe_set *set, kr_error *err)
{
    kr_status status = KR_OK;
    set->misses = share(spec->count, spec->miss_percent);
    set->outliers = share(set->misses, spec->outlier_percent);
    set->skewed = spec->zipf_hundredths && set->misses < spec->count;
    set->draw = kr_random_stream(spec->seed, KR_USE_PROBE_DRAW);
    set->within = kr_random_stream(spec->seed, KR_USE_PROBE_WITHIN);
    if (set->misses)
        set->which = kr_permutation_make(spec->count - 1, spec->seed, KR_USE_PROBE_MISSES);
    if (set->outliers)
        status = kr_absent_open(1, set->ints, set->n_keys, set->keys, threads, &set->outside, err);
    if (status == KR_OK && set->outliers < set->misses)
        status = kr_absent_open(0, set->ints, set->n_keys, set->keys, threads, &set->inside, err);
    if (status == KR_OK && set->skewed) {
        set->ranks = kr_permutation_make(set->n_keys - 1, spec->seed, KR_USE_PROBE_RANKS);
        status = kr_zipf_open(spec->zipf_hundredths, set->n_keys, &set->zipf, err);
    }
    return status;
}

kr_status kr_generate_probes(const kr_probes_spec *spec, kr_type type, uint64_t n_keys, const void *keys,
                             uint32_t threads, void *probes, uint32_t *rows, kr_error *err)
{
    probe_set set = {.keys = keys, .n_keys = n_keys, .probes = probes, .rows = rows};
    kr_sorter sorter = {0};
    kr_status status = check(spec, n_keys, probes, err);
    if (status == KR_OK)
        status = kr_ints_open(type, n_keys, keys, &set.ints, err);
    if (status == KR_OK)
        status = kr_sorter_open(spec->order, set.ints, spec->count, rows != NULL, threads, &sorter, err);
    if (status == KR_OK)
        status = prepare(spec, threads, &set, err);
    if (status == KR_OK) {
        kr_workload_run(kr_workload_parts(threads, spec->count), spec->count, write_probes, &set);
        kr_sorter_run(&sorter, probes, rows);
    }
    kr_zipf_close(&set.zipf);
    kr_absent_close(&set.inside);
    kr_absent_close(&set.outside);
    kr_sorter_close(&sorter);
    return status;
}
