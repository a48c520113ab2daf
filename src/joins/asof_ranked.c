/* As-of joins whose groups and times take more than 64 bits together. Each group gets the number of a right
 * row that has it, and each time its rank among the right times; both numbers have at most 32 bits, and they
 * keep what a join asks of groups (equality) and of times (order). Distances are taken of the times
 * themselves, once the neighbours are known.
 *
 * A right row's rank is the number of right times before its own. Then the right times at or below a left one
 * are those with a rank less than the number of right times that are not after it, and so on. */
#include "joins/asof_ranked_body.h"
#include "joins/asof_state.h"
#include "joins/numbers.h"

/* Ranks of the left times: right times before each (0), or not after it (1). */
typedef struct ranks {
    numbers before;      /* of both sides */
    kr_buffer not_after; /* of the left side */
} ranks;

static void release_ranks(asof *a, ranks *made)
{
    kr_buffer_release(a->keys.device, &made->not_after, NULL);
    numbers_release(&a->keys, &made->before);
}

static kr_status rank_times(asof *a, ranks *made, kr_error *err)
{
    const kr_column *left = asof_times(a, &a->keys.left), *right = asof_times(a, &a->keys.right);
    const kr_nearby not_after = {.how = KR_NEAR_RANK, .type = (uint16_t)left->type};
    const kr_nearby before = {.how = KR_NEAR_RANK | KR_NEAR_STRICT, .type = (uint16_t)left->type};
    kr_index *index = NULL;
    kr_status status = numbers_allocate(&a->keys, sizeof(uint32_t), "the ranks of times", &made->before, err);
    if (status == KR_OK)
        status = keyed_allocate(&a->keys, left->count * sizeof(uint32_t), "the ranks of times",
                                &made->not_after, err);
    if (status == KR_OK)
        status = keyed_index(&a->keys, right, 0, &index, err);
    if (status == KR_OK)
        status = keyed_locate(&a->keys, index, right, &before, made->before.right.data, err);
    if (status == KR_OK)
        status = keyed_locate(&a->keys, index, left, &before, made->before.left.data, err);
    if (status == KR_OK)
        status = keyed_locate(&a->keys, index, left, &not_after, made->not_after.data, err);
    kr_index_destroy(index);
    return status;
}

/* Neighbours on one side by an index of the right keys: out[i] := the right row, or KR_NO_ROW. Strictly below
 * the rank on one side, at or above it on the other. */
typedef struct neighbours {
    const kr_index *index;
    const numbers *ids;
    const ranks *ranks;
    numbers *keys; /* memory for those of the left side */
    uint32_t rank_bits;
} neighbours;

static kr_status find_neighbours(asof *a, const neighbours *from, int below, uint32_t *out, kr_error *err)
{
    const int strict = (a->near.how & KR_NEAR_STRICT) != 0;
    const kr_buffer *rank = below != strict ? &from->ranks->not_after : &from->ranks->before.left;
    const uint64_t n = a->keys.left.n;
    const kr_nearby near = {.how = (below ? KR_NEAR_BELOW | KR_NEAR_STRICT : KR_NEAR_ABOVE) | KR_NEAR_GROUPED,
                            .type = KR_U64,
                            .low_bits = (uint16_t)from->rank_bits};
    const kr_column probes = numbers_column(&from->keys->left, n);
    const kr_status status =
        numbers_pair(&a->keys, &from->ids->left, rank, from->rank_bits,
                     (a->keys.right.n + 1) << from->rank_bits, &from->keys->left, n, err);
    return status == KR_OK ? keyed_locate(&a->keys, from->index, &probes, &near, out, err) : status;
}

static kr_status search_keys(asof *a, const neighbours *from, kr_error *err)
{
    const uint64_t n = a->keys.left.n;
    const kr_nearby *near = &a->near;
    const int sides = near->how & (KR_NEAR_BELOW | KR_NEAR_ABOVE),
              both = sides == (KR_NEAR_BELOW | KR_NEAR_ABOVE);
    kr_buffer other = {0};
    uint32_t *rows = a->rows.data;
    kr_status status =
        both ? keyed_allocate(&a->keys, n * sizeof(uint32_t), "rows above", &other, err) : KR_OK;
    if (status == KR_OK && sides & KR_NEAR_BELOW)
        status = find_neighbours(a, from, 1, rows, err);
    if (status == KR_OK && sides & KR_NEAR_ABOVE)
        status = find_neighbours(a, from, 0, both ? other.data : rows, err);
    const asof_choose_params choose = {
        .below = sides & KR_NEAR_BELOW ? rows : NULL,
        .above = both                    ? other.data
                 : sides & KR_NEAR_ABOVE ? rows
                                         : NULL,
        .left = asof_times(a, &a->keys.left)->data,
        .right = asof_times(a, &a->keys.right)->data,
        .out = rows,
        .near = *near,
        .type = asof_times(a, &a->keys.left)->type,
    };
    if (status == KR_OK && (both || near->how & KR_NEAR_LIMITED))
        status = kr_device_run(a->keys.device, &asof_choose, &choose, n, NULL, err);
    kr_buffer_release(a->keys.device, &other, NULL);
    return status;
}

static kr_status search_ranked(asof *a, const numbers *ids, const ranks *ranked, kr_error *err)
{
    const uint64_t n = a->keys.right.n;
    const uint32_t rank_bits = keys_bits(n);
    numbers keys = {{0}, {0}};
    kr_index *index = NULL;
    kr_status status = numbers_allocate(&a->keys, sizeof(uint64_t), "keys of groups and times", &keys, err);
    if (status == KR_OK)
        status = numbers_pair_sides(&a->keys, ids, &ranked->before, rank_bits, n, &keys, err);
    kr_stopwatch_lap(&a->keys.watch, "fold");
    const kr_column right = numbers_column(&keys.right, n);
    if (status == KR_OK)
        status = keyed_index(&a->keys, &right, rank_bits + keys_bits(n + 1), &index, err);
    kr_buffer_release(a->keys.device, &keys.right, NULL);
    const neighbours from = {index, ids, ranked, &keys, rank_bits};
    if (status == KR_OK)
        status = search_keys(a, &from, err);
    kr_index_destroy(index);
    numbers_release(&a->keys, &keys);
    return status;
}

kr_status asof_ranked(asof *a, kr_error *err)
{
    numbers ids = {{0}, {0}};
    ranks ranked = {{{0}, {0}}, {0}};
    kr_status status = numbers_make(&a->keys, a->keys.n_equal, &ids, err);
    if (status == KR_OK)
        status = rank_times(a, &ranked, err);
    if (status == KR_OK)
        status = search_ranked(a, &ids, &ranked, err);
    release_ranks(a, &ranked);
    numbers_release(&a->keys, &ids);
    return status;
}
