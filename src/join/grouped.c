/* Joins by ranges and of intervals, once groups and values are one key: joins of keys like any other. */
#include "index/kinds/choose.h"
#include "join/join.h"
#include "join/overlap.h"

/* Before any time is spent on keys. */
static void check(kr_work *w, const char *text, const kr_column *left, const kr_column *right)
{
    kr_spec spec;
    KR_STEP(w, kr_choose(w->device, text, &spec, NULL, w->err));
    KR_STEP(w, kr_query_check(spec.kind, 1, w->err));
    kr_join_check_rows(w, left, right, "join parts of it");
}

void kr_join_grouped_run(kr_work *w, const kr_join_job *job, const kr_join_groups *groups, kr_join *join)
{
    kr_grouped columns[3] = {{.values = job->right},
                             {.values = job->right_upper, .is_upper = 1},
                             {.values = job->left, .is_left = 1}};
    kr_join_job keys = *job;
    kr_join_before before;
    check(w, job->spec, job->left, job->right);
    if (!kr_work_goes_on(w))
        return;
    kr_join_before_begin(w, &before);
    keys.used_bits = kr_join_fold_groups(w, groups, columns, 3, 0);
    keys.right = &columns[0].keys;
    keys.right_upper = &columns[1].keys;
    keys.left = &columns[2].keys;
    kr_join_before_pause(w, join);
    if (kr_work_goes_on(w))
        kr_join_run(w, &keys, join);
    kr_join_before_end(w, &before, join);
}

void kr_overlap_grouped_run(kr_work *w, const kr_overlap_job *job, const kr_join_groups *groups,
                            kr_join *join)
{
    kr_grouped columns[4] = {{.values = job->right[0]},
                             {.values = job->right[1]},
                             {.values = job->left[0], .is_left = 1},
                             {.values = job->left[1], .is_left = 1}};
    kr_overlap_job keys = *job;
    kr_join_before before;
    check(w, job->spec, job->left[0], job->right[0]);
    if (!kr_work_goes_on(w))
        return;
    kr_join_before_begin(w, &before);
    kr_join_fold_groups(w, groups, columns, 4, 1);
    for (int i = 0; i < 2; ++i) {
        keys.right[i] = &columns[i].keys;
        keys.left[i] = &columns[2 + i].keys;
    }
    kr_join_before_pause(w, join);
    if (kr_work_goes_on(w))
        kr_overlap_run(w, &keys, join);
    kr_join_before_end(w, &before, join);
}
