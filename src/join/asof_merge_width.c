/* As-of joins of columns that ascend already, on a CPU: a range of left rows begins with a search, and then
 * both sides are read once. */
#include "index/kinds/nearest.h"
#include "index/sorted/gallop.h"
#include "join/asof_state.h"
#include "join/sort_merge.h"

typedef struct merge_params {
    const void *left, *right;
    uint32_t *out;
    kr_nearby near;
    uint64_t n;              /* right rows */
    uint32_t type, reserved; /* of both columns */
} merge_params;
kr_assert_size(merge_params, 56);

/* ---- The merge --------------------------------------------------------------------------------- */

KR_BODY kr_key right_key(const merge_params *p, uint32_t position)
{
    return kr_code_load_key(p->type, p->right, position);
}
KR_SEARCHES(right, merge_params, right_key);

KR_BODY uint64_t right_code(const merge_params *p, uint32_t position)
{
    return right_key(p, position);
}

KR_BODY uint32_t right_row(const merge_params *p, uint32_t position)
{
    (void)p;
    return position;
}
KR_NEAREST(nearest_right, merge_params, right_code, right_row, right_row);

KR_BODY void merge_rows(const merge_params *p, uint64_t first, uint64_t end)
{
    const kr_put put = {.out = p->out, .what = KR_PUT_MATCH, .nearest = KR_PUT_ROW};
    const uint32_t n = (uint32_t)p->n;
    kr_span span = {.any = n != 0};
    if (first < end)
        span.first = span.end = right_between(p, 0, n, kr_code_load_key(p->type, p->left, first));
    for (uint64_t i = first; i < end; ++i) {
        const kr_key key = kr_code_load_key(p->type, p->left, i);
        span.probe = key;
        span.first = right_from(p, n, span.first, key);
        span.end = right_behind(p, n, span.end > span.first ? span.end : span.first, key);
        nearest_right(p, &p->near, &put, i, n, &span);
    }
}
KR_CPU_PROGRAM(asof_merge_rows, merge_params, merge_rows);

int KR_W(asof_merge)(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near)
{
    kr_work *w = a->keys.work;
    const merge_params params = {.left = left->data,
                                 .right = right->data,
                                 .out = a->rows,
                                 .near = *near,
                                 .n = right->count,
                                 .type = left->type};
    if (left->validity || right->validity)
        return 0;
    const int ascend =
        kr_join_ascends(w, right, right->count, NULL) && kr_join_ascends(w, left, left->count, NULL);
    kr_work_lap(w, "search");
    if (ascend) {
        kr_work_run(w, &KR_W(asof_merge_rows), &params, left->count);
        a->merged = 1;
    }
    kr_work_lap(w, "search");
    return ascend;
}
