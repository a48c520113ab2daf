/* Joins by ranges and of intervals, once groups and values are one key: joins of keys like any other. */
#include "index/kinds/choose.h"
#include "join/join.h"
#include "join/overlap.h"

/* What both sorts do before and after the join of keys. */
typedef struct grouped {
    kr_stopwatch watch;
    kr_peak peak;
} grouped;

static void begin(kr_work *w, grouped *g)
{
    kr_work_peak_begin(w, &g->peak);
    kr_join_watch(w, &g->watch);
}

static void end(kr_work *w, grouped *g, kr_join *join)
{
    kr_join_unwatch(w, join);
    join->info.peak_nbytes = kr_work_peak_end(w, &g->peak);
}

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
    grouped g;
    check(w, job->spec, job->left, job->right);
    if (!kr_work_goes_on(w))
        return;
    begin(w, &g);
    keys.used_bits = kr_join_fold_groups(w, groups, columns, 3, 0);
    keys.right = &columns[0].keys;
    keys.right_upper = &columns[1].keys;
    keys.left = &columns[2].keys;
    kr_join_unwatch(w, join); /* the join has a watch of its own */
    if (kr_work_goes_on(w))
        kr_join_run(w, &keys, join);
    end(w, &g, join);
}

void kr_overlap_grouped_run(kr_work *w, const kr_overlap_job *job, const kr_join_groups *groups,
                            kr_join *join)
{
    kr_grouped columns[4] = {{.values = job->right[0]},
                             {.values = job->right[1]},
                             {.values = job->left[0], .is_left = 1},
                             {.values = job->left[1], .is_left = 1}};
    kr_overlap_job keys = *job;
    grouped g;
    check(w, job->spec, job->left[0], job->right[0]);
    if (!kr_work_goes_on(w))
        return;
    begin(w, &g);
    kr_join_fold_groups(w, groups, columns, 4, 1);
    for (int i = 0; i < 2; ++i) {
        keys.right[i] = &columns[i].keys;
        keys.left[i] = &columns[2 + i].keys;
    }
    kr_join_unwatch(w, join);
    if (kr_work_goes_on(w))
        kr_overlap_run(w, &keys, join);
    end(w, &g, join);
}
