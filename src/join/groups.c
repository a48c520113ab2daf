#include "join/groups.h"

#define HELP "join parts of the sides"

/* Columns in device memory: a work has no room for the copies of so many. */
typedef struct here {
    kr_resident groups[2][KR_GROUPS_MOST]; /* of the right side, of the left one */
    kr_resident values[4];
} here;

static void bring(kr_work *w, const kr_column *column, kr_resident *copy)
{
    KR_STEP(w, kr_column_resident_make(w->device, column, "a copy of the columns", w->stream, copy, w->err));
}

static void bring_all(kr_work *w, const kr_join_groups *groups, const kr_grouped *columns, uint32_t n,
                      here *h)
{
    for (uint32_t j = 0; j < groups->n; ++j) {
        bring(w, &groups->right[j], &h->groups[0][j]);
        bring(w, &groups->left[j], &h->groups[1][j]);
    }
    for (uint32_t i = 0; i < n; ++i)
        bring(w, columns[i].values, &h->values[i]);
    kr_work_lap(w, "copy");
}

static void release(kr_work *w, here *h)
{
    for (uint32_t j = 0; j < KR_GROUPS_MOST; ++j)
        for (int side = 0; side < 2; ++side)
            kr_column_resident_release(w->device, &h->groups[side][j], w->stream);
    for (uint32_t i = 0; i < 4; ++i)
        kr_column_resident_release(w->device, &h->values[i], w->stream);
}

/* Groups that the right side lacks have no partner; values need the range of both sides. */
static void make(kr_work *w, const kr_join_groups *groups, const here *h, uint32_t n, kr_composite *composite)
{
    kr_composite_source sources[KR_GROUPS_MOST + 1] = {{{0}, 0}};
    for (uint32_t j = 0; j < groups->n; ++j)
        sources[j] = (kr_composite_source){{&h->groups[0][j].column}, 1};
    for (uint32_t i = 0; i < n; ++i)
        sources[groups->n].columns[i] = &h->values[i].column;
    sources[groups->n].n = n;
    kr_composite_make(w, sources, groups->n + 1, HELP, composite);
}

static kr_column fold(kr_work *w, const kr_composite *composite, const here *h, uint32_t i,
                      const kr_grouped *column, int not_nan)
{
    kr_column columns[KR_GROUPS_MOST + 1];
    const uint32_t n = composite->n;
    const kr_composite_rows rows = {.columns = columns,
                                    .n = n,
                                    .last = column->is_upper ? KR_FOLD_MOST : KR_FOLD_LEAST,
                                    .not_nan = (uint32_t)not_nan};
    for (uint32_t j = 0; j + 1 < n; ++j)
        columns[j] = h->groups[column->is_left != 0][j].column;
    columns[n - 1] = h->values[i].column;
    return kr_composite_fold(w, composite, &rows, HELP);
}

uint32_t kr_join_fold_groups(kr_work *w, const kr_join_groups *groups, kr_grouped *columns, uint32_t n,
                             int not_nan)
{
    here h = {{{{{0}}}}};
    kr_composite composite = {.n = 0};
    bring_all(w, groups, columns, n, &h);
    if (kr_work_goes_on(w))
        make(w, groups, &h, n, &composite);
    for (uint32_t i = 0; i < n && kr_work_goes_on(w); ++i)
        columns[i].keys = fold(w, &composite, &h, i, &columns[i], not_nan);
    kr_composite_give_lists(w, &composite);
    release(w, &h);
    kr_work_lap(w, "fold");
    return kr_work_goes_on(w) ? composite.bits : 0;
}
