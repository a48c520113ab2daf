/* As-of joins whose groups and times take more than 64 bits together. Each group gets the number of a right
 * row that has it, and each time its rank among the right times; both numbers have at most 32 bits, and they
 * keep what a join asks of groups (equality) and of times (order). Distances are taken of the times
 * themselves, once the neighbours are known.
 *
 * A right row's rank is the number of right times before its own. Then the right times at or below a left one
 * are those with a rank less than the number of right times that are not after it, and so on. */
#include "joins/asof.h"
#include "joins/asof_ranked_body.h"

/* Two uint32_t columns, one number for each row. */
typedef struct numbers {
    kr_buffer left, right;
} numbers;

static void release_numbers(asof *a, numbers *made)
{
    kr_buffer_release(a->device, &made->right, NULL);
    kr_buffer_release(a->device, &made->left, NULL);
}

static kr_status allocate_numbers(asof *a, uint32_t nbytes, const char *what, numbers *made, kr_error *err)
{
    kr_status status = asof_allocate(a, a->job->left->count * nbytes, what, &made->left, err);
    return status == KR_OK ? asof_allocate(a, a->job->right->count * nbytes, what, &made->right, err)
                           : status;
}

/* The first right row of each group; KR_NO_ROW for NULLs and for groups that the right side lacks. */
static kr_status number_groups(asof *a, const kr_column *left, const kr_column *right, numbers *ids,
                               kr_error *err)
{
    kr_index *index = NULL;
    kr_status status = allocate_numbers(a, sizeof(uint32_t), "the groups of rows", ids, err);
    if (status == KR_OK)
        status = asof_index(a, right, 0, &index, err);
    if (status == KR_OK)
        status = asof_locate(a, index, left, NULL, ids->left.data, err);
    if (status == KR_OK)
        status = asof_locate(a, index, right, NULL, ids->right.data, err);
    kr_index_destroy(index);
    return status;
}

/* keys[i] := high[i], then low[i] in low_bits bits. A row that lacks either gets a key of its side. */
static kr_status pair_up(asof *a, const numbers *high, const numbers *low, uint32_t low_bits, uint64_t most,
                         numbers *keys, kr_error *err)
{
    const asof_pair_params left = {high->left.data, low->left.data, keys->left.data, (most + 1) << low_bits,
                                   low_bits};
    const asof_pair_params right = {high->right.data, low->right.data, keys->right.data, most << low_bits,
                                    low_bits};
    const kr_status status = kr_device_run(a->device, &asof_pair, &left, a->job->left->count, NULL, err);
    return status == KR_OK ? kr_device_run(a->device, &asof_pair, &right, a->job->right->count, NULL, err)
                           : status;
}

static kr_column keys_of(const kr_buffer *keys, uint64_t count)
{
    return (kr_column){.type = KR_U64, .count = count, .data = keys->data};
}

/* One more group column: pairs of the numbers so far and its own get numbers in their place. */
static kr_status add_groups(asof *a, uint32_t j, numbers *ids, kr_error *err)
{
    numbers more = {{0}, {0}}, keys = {{0}, {0}}, made = {{0}, {0}};
    kr_status status = number_groups(a, &a->left.by[j].column, &a->right.by[j].column, &more, err);
    if (status == KR_OK)
        status = allocate_numbers(a, sizeof(uint64_t), "pairs of groups", &keys, err);
    if (status == KR_OK) /* row ids end at 0xFFFFFFFD */
        status = pair_up(a, ids, &more, 32, 0xFFFFFFFEu, &keys, err);
    release_numbers(a, &more);
    release_numbers(a, ids);
    const kr_column left = keys_of(&keys.left, a->job->left->count);
    const kr_column right = keys_of(&keys.right, a->job->right->count);
    if (status == KR_OK)
        status = number_groups(a, &left, &right, &made, err);
    release_numbers(a, &keys);
    *ids = made;
    return status;
}

/* Ranks of the left times: right times before each (0), or not after it (1). */
typedef struct ranks {
    numbers before;      /* of both sides */
    kr_buffer not_after; /* of the left side */
} ranks;

static void release_ranks(asof *a, ranks *made)
{
    kr_buffer_release(a->device, &made->not_after, NULL);
    release_numbers(a, &made->before);
}

static kr_status rank_times(asof *a, ranks *made, kr_error *err)
{
    const kr_column *left = &a->left.time.column, *right = &a->right.time.column;
    const kr_nearby not_after = {.how = KR_NEAR_RANK, .type = (uint16_t)left->type};
    const kr_nearby before = {.how = KR_NEAR_RANK | KR_NEAR_STRICT, .type = (uint16_t)left->type};
    kr_index *index = NULL;
    kr_status status = allocate_numbers(a, sizeof(uint32_t), "the ranks of times", &made->before, err);
    if (status == KR_OK)
        status =
            asof_allocate(a, left->count * sizeof(uint32_t), "the ranks of times", &made->not_after, err);
    if (status == KR_OK)
        status = asof_index(a, right, 0, &index, err);
    if (status == KR_OK)
        status = asof_locate(a, index, right, &before, made->before.right.data, err);
    if (status == KR_OK)
        status = asof_locate(a, index, left, &before, made->before.left.data, err);
    if (status == KR_OK)
        status = asof_locate(a, index, left, &not_after, made->not_after.data, err);
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
    const int strict = (a->job->near.how & KR_NEAR_STRICT) != 0;
    const kr_buffer *rank = below != strict ? &from->ranks->not_after : &from->ranks->before.left;
    const uint64_t n = a->job->left->count;
    const asof_pair_params pairs = {from->ids->left.data, rank->data, from->keys->left.data,
                                    (a->job->right->count + 1) << from->rank_bits, from->rank_bits};
    const kr_nearby near = {.how = (below ? KR_NEAR_BELOW | KR_NEAR_STRICT : KR_NEAR_ABOVE) | KR_NEAR_GROUPED,
                            .type = KR_U64,
                            .low_bits = (uint16_t)from->rank_bits};
    const kr_column probes = keys_of(&from->keys->left, n);
    const kr_status status = kr_device_run(a->device, &asof_pair, &pairs, n, NULL, err);
    return status == KR_OK ? asof_locate(a, from->index, &probes, &near, out, err) : status;
}

static kr_status search_keys(asof *a, const neighbours *from, kr_error *err)
{
    const uint64_t n = a->job->left->count;
    const kr_nearby *near = &a->job->near;
    const int sides = near->how & (KR_NEAR_BELOW | KR_NEAR_ABOVE),
              both = sides == (KR_NEAR_BELOW | KR_NEAR_ABOVE);
    kr_buffer other = {0};
    uint32_t *rows = a->rows.data;
    kr_status status = both ? asof_allocate(a, n * sizeof(uint32_t), "rows above", &other, err) : KR_OK;
    if (status == KR_OK && sides & KR_NEAR_BELOW)
        status = find_neighbours(a, from, 1, rows, err);
    if (status == KR_OK && sides & KR_NEAR_ABOVE)
        status = find_neighbours(a, from, 0, both ? other.data : rows, err);
    const asof_choose_params choose = {
        .below = sides & KR_NEAR_BELOW ? rows : NULL,
        .above = both                    ? other.data
                 : sides & KR_NEAR_ABOVE ? rows
                                         : NULL,
        .left = a->left.time.column.data,
        .right = a->right.time.column.data,
        .out = rows,
        .near = *near,
        .type = a->left.time.column.type,
    };
    if (status == KR_OK && (both || near->how & KR_NEAR_LIMITED))
        status = kr_device_run(a->device, &asof_choose, &choose, n, NULL, err);
    kr_buffer_release(a->device, &other, NULL);
    return status;
}

static kr_status search_ranked(asof *a, const numbers *ids, const ranks *ranked, kr_error *err)
{
    const uint64_t n = a->job->right->count;
    const uint32_t rank_bits = asof_bits(n);
    numbers keys = {{0}, {0}};
    kr_index *index = NULL;
    kr_status status = allocate_numbers(a, sizeof(uint64_t), "keys of groups and times", &keys, err);
    if (status == KR_OK)
        status = pair_up(a, ids, &ranked->before, rank_bits, n, &keys, err);
    kr_stopwatch_lap(&a->watch, "fold");
    const kr_column right = keys_of(&keys.right, n);
    if (status == KR_OK)
        status = asof_index(a, &right, rank_bits + asof_bits(n + 1), &index, err);
    kr_buffer_release(a->device, &keys.right, NULL);
    const neighbours from = {index, ids, ranked, &keys, rank_bits};
    if (status == KR_OK)
        status = search_keys(a, &from, err);
    kr_index_destroy(index);
    release_numbers(a, &keys);
    return status;
}

kr_status asof_ranked(asof *a, kr_error *err)
{
    numbers ids = {{0}, {0}};
    ranks ranked = {{{0}, {0}}, {0}};
    kr_status status = number_groups(a, &a->left.by[0].column, &a->right.by[0].column, &ids, err);
    for (uint32_t j = 1; j < a->job->n_by && status == KR_OK; ++j)
        status = add_groups(a, j, &ids, err);
    if (status == KR_OK)
        status = rank_times(a, &ranked, err);
    if (status == KR_OK)
        status = search_ranked(a, &ids, &ranked, err);
    release_ranks(a, &ranked);
    release_numbers(a, &ids);
    return status;
}
