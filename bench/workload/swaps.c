#include "bench/workload/workload.h"

#include <stdlib.h>
#include <string.h>

typedef struct swap_set {
    kr_ints ints;
    const void *keys;
    const uint32_t *by_rank; /* rank to row; NULL: pairs of positions */
    kr_permutation which;
    uint32_t *rows;
    void *new_keys;
} swap_set;

static void write_pairs(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const swap_set set = *(const swap_set *)ctx;
    (void)part;
    for (uint64_t pair = first; pair < end; pair++)
        for (uint64_t side = 0; side < 2; side++) {
            const uint64_t at = 2 * kr_permute(&set.which, pair) + side, partner = at ^ 1;
            set.rows[2 * pair + side] = set.by_rank ? set.by_rank[at] : (uint32_t)at;
            kr_ints_put(set.ints, set.new_keys, 2 * pair + side,
                        kr_ints_get(set.ints, set.keys, set.by_rank ? set.by_rank[partner] : partner));
        }
}

/* The rows in the order of their keys. */
static kr_status rank(const swap_set *set, uint64_t n_keys, uint32_t threads, uint32_t **by_rank,
                      kr_error *err)
{
    kr_sorter sorter = {0};
    void *sorted = kr_workload_alloc(n_keys, set->ints.nbytes, "the ranks of the keys", err);
    uint32_t *rows = kr_workload_alloc(n_keys, sizeof *rows, "the ranks of the keys", err);
    kr_status status = sorted && rows ? KR_OK : KR_ERR_HOST_MEMORY;
    if (status == KR_OK)
        status = kr_sorter_open(KR_PROBES_ASCENDING, set->ints, n_keys, 1, threads, &sorter, err);
    if (status == KR_OK) {
        memcpy(sorted, set->keys, n_keys * set->ints.nbytes);
        for (uint64_t row = 0; row < n_keys; row++)
            rows[row] = (uint32_t)row;
        kr_sorter_run(&sorter, sorted, rows);
        *by_rank = rows;
        rows = NULL;
    }
    kr_sorter_close(&sorter);
    free(rows);
    free(sorted);
    return status;
}

kr_status kr_generate_swaps(const kr_swaps_spec *spec, kr_type type, uint64_t n_keys, const void *keys,
                            uint32_t threads, uint32_t *rows, void *new_keys, kr_error *err)
{
    swap_set set = {.keys = keys, .rows = rows, .new_keys = new_keys};
    uint32_t *by_rank = NULL;
    if (spec->pairs > n_keys / 2)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "pairs is %llu: %llu keys make at most %llu",
                                (unsigned long long)spec->pairs, (unsigned long long)n_keys,
                                (unsigned long long)n_keys / 2);
    if (spec->by_rank > 1)
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "by_rank is %u: use 0 or 1", spec->by_rank);
    if (spec->pairs && (!rows || !new_keys))
        return kr_workload_fail(err, KR_ERR_ARGUMENT, "rows or new_keys is NULL but pairs is %llu",
                                (unsigned long long)spec->pairs);
    kr_status status = kr_ints_open(type, n_keys, keys, &set.ints, err);
    if (status == KR_OK && spec->by_rank && spec->pairs)
        status = rank(&set, n_keys, threads, &by_rank, err);
    if (status == KR_OK && spec->pairs) {
        set.by_rank = by_rank;
        set.which = kr_permutation_make(n_keys / 2 - 1, spec->seed, KR_USE_SWAPS);
        kr_workload_run(kr_workload_parts(threads, spec->pairs), spec->pairs, write_pairs, &set);
    }
    free(by_rank);
    return status;
}
