/* kr_join_create_asof: checks the arguments. */
#include "join/asof.h"
#include "api/join.h"
#include "index/lookup/nearest.h"

static kr_join_type read_type(kr_work *w, const kr_join_options *options)
{
    const kr_join_options given = kr_call_join_read_few_options(w, options);
    if (kr_join_keeps_right(given.type))
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "an as-of join has no right or full type: it answers each left row with one right "
                           "row at most; take inner, left, semi or anti"));
    if (given.inverse == KR_INVERSE_ON)
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "an as-of join always indexes its right side: leave inverse at auto"));
    return given.type;
}

/* A column of each side. */
static void check_pair(kr_work *w, const kr_column *left, const kr_column *right, const char *const names[2],
                       const uint64_t counts[2])
{
    KR_STEP(w, kr_column_check(w->device, left, names[0], NULL, w->err));
    KR_STEP(w, kr_column_check(w->device, right, names[1], NULL, w->err));
    if (kr_work_goes_on(w) && left->type != right->type)
        KR_STEP(w, kr_fail(w->err, KR_ERR_TYPE, "%s is %s and %s is %s: convert one to the type of the other",
                           names[0], kr_type_name(left->type), names[1], kr_type_name(right->type)));
    KR_STEP(w, kr_column_check_texts(names[0], left->dictionary, names[1], right->dictionary, w->err));
    if (kr_work_goes_on(w) && counts && (left->count != counts[0] || right->count != counts[1]))
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "%s has %llu rows for %llu times, %s %llu for %llu: give one for each time",
                           names[0], (unsigned long long)left->count, (unsigned long long)counts[0], names[1],
                           (unsigned long long)right->count, (unsigned long long)counts[1]));
}

static void check_columns(kr_work *w, const kr_asof_job *job)
{
    static const char *const times[2] = {"the left time", "the right time"};
    static const char *const groups[2] = {"the left group", "the right group"};
    check_pair(w, job->left, job->right, times, NULL);
    if (job->n_by > KR_BY_MOST)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "%u group columns, but an as-of join takes at most %d; join them to one",
                           job->n_by, KR_BY_MOST));
    if (job->n_by && (!job->left_by || !job->right_by))
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "kr_join_create_asof: n_by is %u, but %s is NULL",
                           job->n_by, job->left_by ? "right_by" : "left_by"));
    for (uint32_t j = 0; j < job->n_by && kr_work_goes_on(w); ++j) {
        const uint64_t counts[2] = {job->left->count, job->right->count};
        check_pair(w, &job->left_by[j], &job->right_by[j], groups, counts);
    }
}

kr_status kr_join_create_asof(kr_device *device, const char *spec, const kr_column *left,
                              const kr_column *right, const kr_column *left_by, const kr_column *right_by,
                              uint32_t n_by, const kr_nearest_options *nearest,
                              const kr_join_options *options, kr_join **join, kr_error *err)
{
    kr_asof_job job = {
        .spec = spec, .left = left, .right = right, .left_by = left_by, .right_by = right_by, .n_by = n_by};
    if (!device || !join)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_create_asof: device or join is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    check_columns(&w, &job);
    job.type = read_type(&w, options);
    KR_STEP(&w, kr_nearby_make(left->type, nearest, &job.near, err));
    kr_join *made = kr_call_join_begin(&w);
    if (made)
        kr_asof_run(&w, &job, made);
    return kr_call_join_end(&w, made, join);
}
