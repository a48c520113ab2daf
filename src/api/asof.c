/* kr_join_create_asof: checks the arguments. */
#include "api/join.h"
#include "index/lookup/nearest.h"

static kr_join_type read_type(kr_work *w, const kr_join_options *options)
{
    const kr_join_options given = kr_call_join_read_few_options(w, options, NULL);
    if (kr_join_keeps_right(given.type))
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "an as-of join has no right or full type: it answers each left row with one right "
                           "row at most; take inner, left, semi or anti"));
    if (given.inverse == KR_INVERSE_ON)
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                           "an as-of join always indexes its right side: leave inverse at auto"));
    return given.type;
}

static void check_columns(kr_work *w, const kr_asof_job *job)
{
    const kr_column *left = job->left, *right = job->right;
    const kr_join_groups groups = {job->left_by, job->right_by, job->n_by};
    kr_call_join_check_column(w, left, "the left time");
    kr_call_join_check_column(w, right, "the right time");
    if (kr_work_goes_on(w) && !kr_call_join_are_alike(left, right))
        KR_STEP(w, kr_fail(w->err, KR_ERR_TYPE, "the left time is %s and the right time is %s: %s",
                           kr_type_name(left->type), kr_type_name(right->type),
                           kr_call_join_advice(left, right)));
    KR_STEP(w, kr_column_check_texts("the left time", left->dictionary, "the right time", right->dictionary,
                                     w->err));
    if (kr_work_goes_on(w))
        kr_call_join_check_groups(w, &groups, left->count, right->count);
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
    const int is_text = kr_work_goes_on(&w) && kr_strings_are(left->type);
    KR_STEP(&w, kr_nearby_make(is_text ? KR_U32 : left->type, is_text || left->dictionary, nearest, &job.near,
                               err));
    kr_join *made = kr_call_join_begin(&w);
    if (made)
        kr_join_texts_asof(&w, &job, made);
    return kr_call_join_end(&w, made, join);
}
