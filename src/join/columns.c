#include "join/columns.h"
#include "index/kinds/choose.h"
#include "join/join.h"
#include "join/numbers.h"

#define HELP "join parts of the sides"

/* Joins the keys of both sides. */
static void join_keys(keyed *k, const kr_columns_job *job, const kr_column *left, const kr_column *right,
                      uint32_t used_bits, kr_join *join)
{
    kr_join_job keys = job->how;
    keys.left = left;
    keys.right = right;
    keys.used_bits = used_bits;
    kr_join_unwatch(k->work, join); /* the join has a watch of its own */
    kr_join_run(k->work, &keys, join);
}

/* Columns that take more than 64 bits together: a number for all but the last, and one for the last. */
static void join_numbers(keyed *k, const kr_columns_job *job, kr_join *join)
{
    const numbers ids = numbers_make(k, k->n - 1), last = numbers_of(k, k->n - 1);
    const numbers_pairs pairs = numbers_pair_values(k, &ids, &last);
    kr_work_lap(k->work, "fold");
    const kr_column left = numbers_column(pairs.left, k->left.n);
    const kr_column right = numbers_column(pairs.right, k->right.n);
    join_keys(k, job, &left, &right, 0, join);
}

static void join_columns(keyed *k, const kr_columns_job *job, kr_join *join)
{
    keyed_bring(k, &k->left, job->left, 0, k->n, "a copy of the left columns");
    keyed_bring(k, &k->right, job->right, 0, k->n, "a copy of the right columns");
    kr_work_lap(k->work, "copy");
    const keys_folded folded = keys_fold_sides(k);
    if (!kr_work_goes_on(k->work))
        return;
    if (folded.bits)
        join_keys(k, job, &folded.left, &folded.right, folded.bits, join);
    else
        join_numbers(k, job, join);
}

/* Before any time is spent. */
static void check(keyed *k, const kr_columns_job *job)
{
    kr_work *w = k->work;
    KR_STEP(w, kr_choose(w->device, job->how.spec, &k->spec, NULL, w->err));
    kr_join_check_rows(w, job->left, job->right, "join parts of it");
    KR_STEP(w, kr_kind_check(k->spec.kind, KR_CAN_POINT, w->err));
}

void kr_join_columns_run(kr_work *w, const kr_columns_job *job, kr_join *join)
{
    keyed k = {.work = w, .n = job->n, .n_equal = job->n, .help = HELP, .tracer = "none"};
    kr_stopwatch watch;
    kr_peak peak;
    check(&k, job);
    if (!kr_work_goes_on(w))
        return;
    kr_work_peak_begin(w, &peak);
    kr_join_watch(w, &watch);
    join_columns(&k, job, join);
    kr_join_unwatch(w, join);
    keyed_release(&k);
    join->info.peak_nbytes = kr_work_peak_end(w, &peak);
}
