/* As-of joins whose groups and times take more than 64 bits together. Each group gets the number of a right
 * row that has it, and each time its rank among the right times; both numbers have at most 32 bits, and they
 * keep what a join asks of groups (equality) and of times (order). Distances are taken of the times
 * themselves, once the neighbours are known.
 *
 * A right row's rank is the number of right times before its own. Then the right times at or below a left one
 * are those with a rank less than the number of right times that are not after it, and so on. */
#include "base/key/fold.h"
#include "join/asof_ranked_body.h"
#include "join/asof_state.h"
#include "join/numbers.h"

/* Right times before each time, and those not after each of the left side. */
typedef struct ranks {
    numbers before;
    uint32_t *not_after;
} ranks;

static ranks rank_times(asof *a)
{
    const kr_column *left = asof_times(a, &a->keys.left), *right = asof_times(a, &a->keys.right);
    const kr_nearby not_after = {.how = KR_NEAR_RANK, .type = (uint16_t)left->type};
    const kr_nearby before = {.how = KR_NEAR_RANK | KR_NEAR_STRICT, .type = (uint16_t)left->type};
    ranks made;
    made.before = numbers_take(&a->keys, "the ranks of times");
    made.not_after = keyed_take(&a->keys, left->count * sizeof *made.not_after, "the ranks of times");
    kr_index *index = keyed_index(&a->keys, right, 0);
    keyed_locate(&a->keys, index, right, &before, made.before.right);
    keyed_locate(&a->keys, index, left, &before, made.before.left);
    keyed_locate(&a->keys, index, left, &not_after, made.not_after);
    kr_index_release(index, a->keys.work->stream);
    return made;
}

/* Neighbours on one side by an index of the right keys: out[i] := the right row, or KR_NO_ROW. Strictly below
 * the rank on one side, at or above it on the other. */
typedef struct neighbours {
    const kr_index *index;
    const uint32_t *ids; /* numbers of the left groups */
    const ranks *ranks;
    uint64_t *keys; /* memory for those of the left side */
    uint32_t rank_bits;
} neighbours;

static void find_neighbours(asof *a, const neighbours *from, int below, uint32_t *out)
{
    const int strict = (a->near.how & KR_NEAR_STRICT) != 0;
    const uint32_t *rank = below != strict ? from->ranks->not_after : from->ranks->before.left;
    const uint64_t n = a->keys.left.n;
    const kr_nearby near = {.how = (below ? KR_NEAR_BELOW | KR_NEAR_STRICT : KR_NEAR_ABOVE) | KR_NEAR_GROUPED,
                            .type = KR_U64,
                            .low_bits = (uint16_t)from->rank_bits};
    const kr_column probes = numbers_column(from->keys, n);
    numbers_pair(&a->keys, from->ids, rank, from->rank_bits, (a->keys.right.n + 1) << from->rank_bits,
                 from->keys, n);
    keyed_locate(&a->keys, from->index, &probes, &near, out);
}

void asof_choose_rows(asof *a, const uint32_t *below, const uint32_t *above)
{
    const kr_column *left = asof_times(a, &a->keys.left), *right = asof_times(a, &a->keys.right);
    const asof_choose_params choose = {.below = below,
                                       .above = above,
                                       .left = left->data,
                                       .right = right->data,
                                       .out = a->rows,
                                       .near = a->near,
                                       .type = left->type};
    const int is_float = left->type == KR_F32 || left->type == KR_F64;
    if ((below && above) || is_float || a->near.how & KR_NEAR_LIMITED)
        kr_work_run(a->keys.work, &asof_choose, &choose, left->count);
}

static void search_keys(asof *a, const neighbours *from)
{
    const uint64_t n = a->keys.left.n;
    const kr_nearby *near = &a->near;
    const int below = near->how & KR_NEAR_BELOW, above = near->how & KR_NEAR_ABOVE;
    uint32_t *rows = a->rows;
    uint32_t *other = below && above ? keyed_take(&a->keys, n * sizeof *other, "rows above") : rows;
    if (below)
        find_neighbours(a, from, 1, rows);
    if (above)
        find_neighbours(a, from, 0, other);
    asof_choose_rows(a, below ? rows : NULL, above ? other : NULL);
}

void asof_ranked(asof *a)
{
    const uint64_t n = a->keys.right.n;
    const uint32_t rank_bits = kr_fold_bits(n);
    const numbers ids = numbers_make(&a->keys, a->keys.n_equal);
    const ranks ranked = rank_times(a);
    const numbers_pairs keys =
        numbers_pair_sides(&a->keys, &ids, &ranked.before, rank_bits, n, "keys of groups and times");
    kr_work_lap(a->keys.work, "fold");
    const kr_column right = numbers_column(keys.right, n);
    kr_index *index = keyed_index(&a->keys, &right, rank_bits + kr_fold_bits(n + 1));
    kr_work_give(a->keys.work, keys.right);
    const neighbours from = {index, ids.left, &ranked, keys.left, rank_bits};
    search_keys(a, &from);
    kr_index_release(index, a->keys.work->stream);
}
