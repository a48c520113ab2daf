#include "bench/workload/workload.h"

#include <stdlib.h>

enum { NORMAL_TERMS = 12 };

typedef struct value_set {
    const kr_values_spec *spec;
    kr_ints ints;
    kr_zipf zipf;
    kr_permutation shuffle;
    uint64_t stream;
    void *values;
} value_set;

/* The sum of twelve uniform numbers, less its mean, has the standard deviation 2^32. */
static uint64_t normal(const value_set *set, uint64_t i)
{
    const uint64_t middle = (uint64_t)1 << (8 * set->ints.nbytes - 1);
    int64_t sum = -(int64_t)NORMAL_TERMS / 2 * ((int64_t)1 << 32);
    for (uint64_t k = 0; k < NORMAL_TERMS; ++k)
        sum += (int64_t)(kr_random(set->stream, i * NORMAL_TERMS + k) >> 32);
    const uint64_t away = (uint64_t)(((kr_u128)(uint64_t)(sum < 0 ? -sum : sum) * set->spec->sigma) >> 32);
    return sum < 0 ? middle - away : middle + away;
}

static uint64_t value_of(const value_set *set, uint64_t i)
{
    switch (set->spec->distribution) {
    case KR_VALUES_DISTINCT: return kr_permute(&set->shuffle, i);
    case KR_VALUES_ZIPF:
        return 1 + kr_zipf_rank(&set->zipf, kr_random(set->stream, 2 * i), kr_random(set->stream, 2 * i + 1));
    case KR_VALUES_NORMAL: return normal(set, i);
    case KR_VALUES_SMALL: return kr_random(set->stream, i) % 64;
    default: return kr_random(set->stream, i) >> (64 - 8 * set->ints.nbytes);
    }
}

static void write_values(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const value_set *set = ctx;
    (void)part;
    for (uint64_t i = first; i < end; ++i)
        kr_ints_put(set->ints, set->values, i, value_of(set, i));
}

static kr_status sort(const value_set *set, uint32_t threads, kr_error *err)
{
    kr_sorter sorter = {0};
    const kr_status status =
        kr_sorter_open(KR_PROBES_ASCENDING, set->ints, set->spec->count, 0, threads, &sorter, err);
    if (status == KR_OK)
        kr_sorter_run(&sorter, set->values, NULL);
    kr_sorter_close(&sorter);
    return status;
}

kr_status kr_generate_values(const kr_values_spec *spec, uint32_t threads, void *values, kr_error *err)
{
    const uint64_t seed = kr_mix((spec->seed ? spec->seed : 42) + spec->column);
    value_set set = {.spec = spec, .values = values, .stream = kr_random_stream(seed, KR_USE_VALUES)};
    kr_status status = kr_ints_open(spec->bits == 64 ? KR_U64 : KR_U32, spec->count, values, &set.ints, err);
    if (status == KR_OK && spec->distribution == KR_VALUES_ZIPF)
        status = kr_zipf_open(spec->zipf_hundredths, UINT32_MAX - 1, &set.zipf, err);
    if (status == KR_OK && spec->count) {
        set.shuffle = kr_permutation_make(spec->count - 1, seed, KR_USE_VALUES);
        kr_workload_run(kr_workload_parts(threads, spec->count), spec->count, write_values, &set);
        status = spec->sorted ? sort(&set, threads, err) : KR_OK;
    }
    kr_zipf_close(&set.zipf);
    return status;
}

uint64_t kr_values_random(uint64_t seed, uint64_t i)
{
    return kr_random(kr_random_stream(seed, KR_USE_CONSTANTS), i);
}
