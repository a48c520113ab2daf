/* As-of joins of sides whose times ascend, whatever the order of their groups, on a CPU: no index is built,
 * and nothing is sorted. Data that came in the order of its time is so.
 *
 * Left rows are cut into pieces, which threads share. Each piece remembers the last row of each group that it
 * read; a row whose group has none in its piece takes it from the pieces before. */
#include "index/kinds/nearest.h"
#include "join/asof_state.h"
#include "join/asof_sweep_body.h"
#include "join/sort_merge.h"

KR_CPU_PIECE_PROGRAM(asof_sweep_table, asof_sweep_params, asof_sweep_pieces);
KR_CPU_PIECE_PROGRAM(asof_sweep_rest, asof_sweep_params, asof_sweep_rests);

enum {
    FIRST_LOOK = 1 << 16, /* rows of each side that are looked at before any side is read whole */
    PIECES = 16,
    PIECE_LEAST = 4096, /* left rows */
    RIGHT_OF_GROUP =
        4 /* right rows of each group that a piece has, on average, so that few rows are left over */
};

static int ascend(asof *a, const kr_column *left, const kr_column *right)
{
    kr_work *w = a->keys.work;
    const uint64_t n_left = left->count < FIRST_LOOK ? left->count : FIRST_LOOK,
                   n_right = right->count < FIRST_LOOK ? right->count : FIRST_LOOK;
    const int good = kr_join_ascends(w, left, n_left, NULL) && kr_join_ascends(w, right, n_right, NULL) &&
                     kr_join_ascends(w, left, left->count, NULL) &&
                     kr_join_ascends(w, right, right->count, NULL);
    kr_work_lap(w, "search");
    return good;
}

static uint64_t pieces_of(uint64_t n_left, uint64_t n_right, uint64_t groups)
{
    uint64_t pieces = n_right / RIGHT_OF_GROUP / groups;
    pieces = pieces < n_left / PIECE_LEAST ? pieces : n_left / PIECE_LEAST;
    pieces = pieces < PIECES ? pieces : PIECES;
    return pieces ? pieces : 1;
}

static void sweep(asof *a, const keys_folded *groups, uint32_t above, uint32_t *out)
{
    kr_work *w = a->keys.work;
    const kr_column *left = asof_times(a, &a->keys.left), *right = asof_times(a, &a->keys.right);
    asof_sweep_params params = {.left = left->data,
                                .right = right->data,
                                .left_groups = groups->left.data,
                                .right_groups = groups->right.data,
                                .out = out,
                                .n_left = left->count,
                                .n_right = right->count,
                                .groups = (uint64_t)1 << groups->bits,
                                .type = left->type,
                                .above = above,
                                .strict = (a->near.how & KR_NEAR_STRICT) != 0};
    const uint64_t pieces = pieces_of(params.n_left, params.n_right, params.groups);
    params.each = (params.n_left + pieces - 1) / pieces;
    params.tables =
        keyed_take(&a->keys, pieces * params.groups * sizeof *params.tables, "the last row of each group");
    /* Rounding may leave the last pieces without rows. */
    const uint64_t used = (params.n_left + params.each - 1) / params.each;
    kr_work_run(w, &asof_sweep_table, &params, used);
    kr_work_run(w, &asof_sweep_rest, &params, used);
    kr_work_give(w, params.tables);
}

int asof_sweep(asof *a)
{
    kr_work *w = a->keys.work;
    const kr_column *left = asof_times(a, &a->keys.left), *right = asof_times(a, &a->keys.right);
    const uint32_t mark = kr_work_mark(w), below = a->near.how & KR_NEAR_BELOW,
                   above = a->near.how & KR_NEAR_ABOVE;
    keyed equal = a->keys;
    equal.n = equal.n_equal;
    if (!w->device->ops->is_host || !left->count || !right->count || left->validity || right->validity ||
        !ascend(a, left, right))
        return 0;
    const keys_folded groups = keys_fold_sides(&equal);
    if (!groups.bits || groups.bits > 31 || (uint64_t)1 << groups.bits > left->count + right->count) {
        kr_work_give_since(w, mark);
        return 0;
    }
    uint32_t *rows = a->rows;
    uint32_t *other = below && above ? keyed_take(&a->keys, left->count * sizeof *other, "rows above") : rows;
    if (below)
        sweep(a, &groups, 0, rows);
    if (above)
        sweep(a, &groups, 1, other);
    asof_choose_rows(a, below ? rows : NULL, above ? other : NULL);
    a->merged = 1;
    kr_work_lap(w, "search");
    return 1;
}
