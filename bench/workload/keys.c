#include "bench/workload/workload.h"

typedef struct key_set {
    kr_ints ints;
    void *keys;
    kr_permutation shuffle; /* position to slot; equal keys have neighbouring slots */
    kr_permutation spread;  /* uniform key number to a value outside the dense part */
    uint64_t dense, stride; /* distinct keys of the dense part, and their distance */
    uint64_t start, span;   /* its first value, and the values it takes up, gaps included */
    uint32_t multiplicity, sorted;
} key_set;

uint32_t kr_keys_nbytes(const kr_keys_spec *spec)
{
    return spec->bits == 64 ? 8 : 4;
}

static uint64_t key_at(const key_set *set, uint64_t position)
{
    uint64_t slot = set->sorted ? position : kr_permute(&set->shuffle, position);
    uint64_t number = (uint32_t)slot / set->multiplicity;
    if (number < set->dense)
        return set->start + number * set->stride;
    uint64_t value = kr_permute(&set->spread, number - set->dense);
    return value < set->start ? value : value + set->span;
}

static void write_keys(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const key_set set = *(const key_set *)ctx;
    (void)part;
    for (uint64_t i = first; i < end; i++)
        kr_ints_put(set.ints, set.keys, i, key_at(&set, i));
}

static kr_status check(const kr_keys_spec *spec, const void *keys, kr_error *err)
{
    if (spec->bits != 0 && spec->bits != 32 && spec->bits != 64)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "bits is %u: use 32 or 64", spec->bits);
    if (spec->uniformity > 100)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "uniformity is %u percent: use 0 to 100",
                                spec->uniformity);
    if (spec->count >= KR_NO_ROW + UINT64_C(1))
        return kr_workload_fail(err, KR_ERR_LIMIT, "count is %llu: a key set holds at most 2^32 - 1",
                                (unsigned long long)spec->count);
    if (spec->multiplicity && spec->count % spec->multiplicity)
        return kr_workload_fail(err, KR_ERR_ARGUMENT,
                                "count is %llu, no multiple of the multiplicity %u: round it",
                                (unsigned long long)spec->count, spec->multiplicity);
    if (spec->count && !keys)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "keys is NULL but count is %llu",
                                (unsigned long long)spec->count);
    return KR_OK;
}

/* Lays the set out over the value range: `start`, `span` and the rest beside them. */
static kr_status lay_out(const kr_keys_spec *spec, key_set *set, kr_error *err)
{
    uint64_t distinct = spec->count / set->multiplicity;
    uint64_t uniform = distinct * spec->uniformity / 100;
    const kr_u128 all = (kr_u128)set->ints.last + 1, near = (kr_u128)distinct * spec->spread;
    kr_u128 values = near && near < all ? near : all;
    set->dense = distinct - uniform;
    kr_u128 span = set->dense ? (kr_u128)(set->dense - 1) * set->stride + 1 : 0;
    if (span > values)
        return kr_workload_fail(err, KR_ERR_ARGUMENT,
                                "stride is %llu: %llu dense keys do not fit into %s%u; lower stride or count",
                                (unsigned long long)set->stride, (unsigned long long)set->dense,
                                near ? "the spread of u" : "u", 8 * set->ints.nbytes);
    if (uniform > values - span)
        return kr_workload_fail(
            err, KR_ERR_ARGUMENT,
            "uniformity is %u percent: %llu uniform keys find no room beside the dense part; "
            "lower uniformity, stride or count",
            spec->uniformity, (unsigned long long)uniform);
    set->start = spec->dense_centre && set->dense ? (uint64_t)((values - span) / 2) : 0;
    set->span = (uint64_t)span;
    if (spec->count)
        set->shuffle = kr_permutation_make(spec->count - 1, spec->seed, KR_USE_KEY_SHUFFLE);
    if (uniform)
        set->spread = kr_permutation_make((uint64_t)(values - span - 1), spec->seed, KR_USE_KEY_SPREAD);
    return KR_OK;
}

kr_status kr_generate_keys(const kr_keys_spec *spec, uint32_t threads, void *keys, kr_error *err)
{
    key_set set = {.keys = keys,
                   .stride = spec->stride ? spec->stride : 1,
                   .multiplicity = spec->multiplicity ? spec->multiplicity : 1,
                   .sorted = spec->sorted};
    kr_type type = kr_keys_nbytes(spec) == 8 ? KR_U64 : KR_U32;
    kr_sorter sorter;
    kr_status status = check(spec, keys, err);
    if (status == KR_OK)
        status = kr_ints_open(type, spec->count, keys, &set.ints, err);
    if (status == KR_OK)
        status = lay_out(spec, &set, err);
    if (status == KR_OK)
        status = kr_sorter_open(spec->sorted ? KR_PROBES_ASCENDING : KR_PROBES_RANDOM, set.ints, spec->count,
                                0, threads, &sorter, err);
    if (status != KR_OK)
        return status;
    kr_workload_run(kr_workload_parts(threads, spec->count), spec->count, write_keys, &set);
    kr_sorter_run(&sorter, keys, NULL);
    kr_sorter_close(&sorter);
    return KR_OK;
}
