/* Key sets for the tests of the workload generators. Include after cmocka.h. */
#ifndef GENERATED_H
#define GENERATED_H

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static inline uint64_t hash_bytes(const void *data, size_t nbytes)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static inline void *generated_keys(const kr_keys_spec *spec, uint32_t threads)
{
    kr_error err = {0};
    void *keys = malloc((size_t)spec->count * kr_keys_nbytes(spec) + 1);
    assert_non_null(keys);
    if (kr_generate_keys(spec, threads, keys, &err) != KR_OK)
        fail_msg("%s", err.text);
    return keys;
}

static inline uint64_t key_of(const kr_keys_spec *spec, const void *keys, uint64_t i)
{
    return kr_keys_nbytes(spec) == 8 ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

static inline int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The keys of a set widened to u64, and ascending. */
static inline uint64_t *ascending(const kr_keys_spec *spec, const void *keys)
{
    uint64_t *sorted = malloc((size_t)spec->count * sizeof *sorted);
    assert_non_null(sorted);
    for (uint64_t i = 0; i < spec->count; i++)
        sorted[i] = key_of(spec, keys, i);
    qsort(sorted, (size_t)spec->count, sizeof *sorted, by_value);
    return sorted;
}

#endif
